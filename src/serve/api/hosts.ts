import { isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { urlOf } from '../../base/url.js';
import { isLoopback } from './addresses.js';
import { ServiceError } from './errors.js';

/**
 * Refuses requests to other hosts than ours with a 421. Otherwise, any website could let its name point to the address
 * of this machine, and its pages could read what only this machine should (DNS rebinding).
 *
 * @param allowed host names, besides `localhost`. None: all are allowed, or on loopback only `localhost` and addresses
 */
export function refuseOtherHosts(
  app: FastifyInstance,
  { listensOn, allowed }: { listensOn: string; allowed: readonly string[] },
): void {
  if (allowed.length === 0 && !isLoopback(listensOn)) return;
  const names = new Set(allowed.map((name) => name.toLowerCase()));
  app.addHook('onRequest', async ({ host, headers }) => {
    // Browsers always send it.
    if (headers.host === undefined) return;
    const name = hostnameOf(host);
    const isAllowed = isLoopback(name) || (names.size === 0 ? isIP(name) !== 0 : names.has(name));
    if (isAllowed) return;
    throw new ServiceError(
      421,
      'This host name is not served here. The operator of the service can add it to service.allowed_hosts.',
    );
  });
}

/** In lower case, without port and brackets; empty if it is invalid. */
function hostnameOf(host: string): string {
  return urlOf(`http://${host}`)?.hostname.replace(/^\[|\]$/g, '') ?? '';
}
