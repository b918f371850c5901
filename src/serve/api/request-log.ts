import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from '../../base/observe/log.js';
import { safe } from '../../base/observe/terminal.js';
import { TOKENS } from '../keys/key-file.js';
import type { OnError } from './admission.js';
import type { ServerOptions } from './http.js';

/** A path may hold a page URL of any length. */
const MAX_PATH_CHARACTERS = 2000;
/** Parameters that somebody might put a secret into. */
const SECRET_PARAMETERS = /([?&][\w.-]*(?:token|key|secret|password|authorization)=)[^&]*/gi;

/**
 * Makes a server log each request at `debug`: method, path, status, milliseconds, bytes of the body, the label of its key and the
 * address that it came from.
 */
export function requestLog(log: Pick<Logger, 'isLevelEnabled' | 'debug'>): Pick<ServerOptions, 'onKey' | 'setup'> {
  if (!log.isLevelEnabled('debug')) return {};
  const labels = new WeakMap<FastifyRequest, string>();
  return {
    onKey: (request, key) => void labels.set(request, key.api_key_label),
    setup: (app) => {
      app.addHook('onResponse', async (request, reply) => {
        const { method, ip: address } = request;
        const path = loggedPath(request);
        const ms = Math.round(reply.elapsedTime * 10) / 10;
        const key = labels.get(request) ?? null;
        const [status, bytes] = [reply.statusCode, bodyBytes(request, reply)];
        log.debug({ method, path, status, ms, bytes, key, address }, 'answered');
      });
    },
  };
}

/** Makes a server log each error that is not the client's fault with the request that it ended; at `debug`, its stack. */
export function errorLog(log: Pick<Logger, 'error'>): OnError {
  return (err, request) => {
    log.error({ err, method: request.method, path: loggedPath(request) }, 'a request could not be answered');
  };
}

/** The path of a request, without what may be a secret, such as a token in it. */
function loggedPath({ url }: FastifyRequest): string {
  const bare = url.replace(SECRET_PARAMETERS, '$1[secret]').replace(TOKENS, '[secret]');
  return safe(bare.slice(0, MAX_PATH_CHARACTERS));
}

/** Length of the body that was sent; null for a stream, whose length is not counted. */
function bodyBytes({ method }: FastifyRequest, reply: FastifyReply): number | null {
  if (method === 'HEAD') return 0;
  const length = reply.getHeader('content-length');
  return length === undefined ? null : Number(length);
}
