import type { FastifyRequest } from 'fastify';
import type { Logger } from '../observe/log.js';
import { safe } from '../observe/terminal.js';
import type { ServerOptions } from './http.js';

/** A path may hold a page URL of any length. */
const MAX_PATH_CHARACTERS = 2000;

/**
 * What makes a server log each request at debug level: method, path, status, milliseconds, and the label of its key.
 *
 * @param tokens what looks like a token is not repeated, should somebody put one into a path
 */
export function requestLog(log: Logger, tokens: RegExp): Pick<ServerOptions, 'onKey' | 'setup'> {
  if (!log.isLevelEnabled('debug')) return {};
  const labels = new WeakMap<FastifyRequest, string>();
  return {
    onKey: (request, key) => void labels.set(request, key.api_key_label),
    setup: (app) => {
      app.addHook('onResponse', async (request, reply) => {
        const path = safe(request.url.slice(0, MAX_PATH_CHARACTERS)).replace(tokens, '[secret]');
        const ms = Math.round(reply.elapsedTime * 10) / 10;
        const key = labels.get(request) ?? null;
        log.debug({ method: request.method, path, status: reply.statusCode, ms, key }, 'answered');
      });
    },
  };
}
