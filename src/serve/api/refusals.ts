import { isIP } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { urlOf } from '../../base/url.js';
import { isLoopback } from './addresses.js';
import { ServiceError } from './errors.js';

/**
 * Answers 404, or 405 with `Allow` where the path has other methods, before a body is read.
 *
 * @returns a function to call once the hooks that should see such requests, too, are added; routes may follow it
 */
export function refuseUnknown(app: FastifyInstance): () => void {
  const paths = new Map<string, { segments: string[]; methods: Set<string> }>();
  app.addHook('onRoute', ({ url, method }) => {
    if (url === '*') return;
    const known = paths.get(url) ?? { segments: url.split('/'), methods: new Set() };
    for (const each of [method].flat()) known.methods.add(each);
    paths.set(url, known);
  });
  const refusal = (request: FastifyRequest): ServiceError => {
    // A target may be a whole address.
    const [path = ''] = request.url.replace(/^https?:\/\/[^/?#]*/i, '').split(/[?#]/);
    const asked = path.split('/');
    const isAsked = (part: string, at: number) => (part.startsWith(':') ? asked[at] !== '' : part === asked[at]);
    const known = [...paths.values()].find(
      ({ segments }) => segments.length === asked.length && segments.every(isAsked),
    );
    if (!known) return new ServiceError(404, 'There is nothing at this path.');
    const allow = [...known.methods].sort().join(', ');
    return new ServiceError(405, `This path supports only ${allow}.`, { allow });
  };
  app.setNotFoundHandler((request) => Promise.reject(refusal(request)));
  return () => {
    app.addHook('onRequest', async (request) => {
      if (request.is404) throw refusal(request);
    });
  };
}

/** Refuses what a proxy in front might interpret differently. */
export function refuseAmbiguous(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ raw }) => {
    if (raw.httpVersion === '1.1' && raw.headers.host === undefined)
      throw new ServiceError(400, 'A Host header is required.');
    const names = raw.rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
    for (const name of ['host', 'authorization']) {
      if (names.indexOf(name) !== names.lastIndexOf(name)) throw new ServiceError(400, `Two ${name} headers.`);
    }
  });
}

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
    const name = urlOf(`http://${host}`)?.hostname.replace(/^\[|\]$/g, '') ?? '';
    if (isLoopback(name) || (names.size === 0 ? isIP(name) !== 0 : names.has(name))) return;
    throw new ServiceError(
      421,
      'This host name is not served here. The operator of the service can add it to service.allowed_hosts.',
    );
  });
}
