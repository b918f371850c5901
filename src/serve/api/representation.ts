import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { negotiate } from '@fastify/accept-negotiator';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

const compressWith = { br: promisify(brotliCompress), gzip: promisify(gzip) };
/** A window of the listing shrinks to a tenth within a millisecond; another tenth off would take fifty. */
const BROTLI_QUALITY = 4;
export const BROTLI_PARAMETERS = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY };
/** A smaller body fits into one packet anyway. */
const LEAST_COMPRESSED_BYTES = 1024;

/**
 * Gives every 200 an `ETag`, answers 304 to clients that have it already, and compresses the body for clients that
 * accept that. The tag is weak, because it identifies the content and not its compressed bytes.
 */
export function addRepresentations(app: FastifyInstance): void {
  app.addHook('onSend', async (request, reply, payload) => {
    // A stream has no end yet, so it cannot have a tag.
    const isWhole = typeof payload === 'string' || Buffer.isBuffer(payload);
    if (!isWhole || reply.statusCode !== 200) return payload;
    // Answers with their own rules for caches, such as pages that must not be kept, get no tag, nor does one to a POST.
    if (reply.hasHeader('cache-control') || request.method === 'POST') return compressed(request, reply, payload);
    const tag = `W/"${createHash('sha1').update(payload).digest('base64url')}"`;
    // A shared cache must not pass it on to clients without access.
    reply.headers({ etag: tag, 'cache-control': 'private, no-cache', vary: varyWith(reply, 'Authorization') });
    if (isKnown(request.headers, tag)) {
      reply.header('vary', varyWith(reply, 'Accept-Encoding')).code(304).removeHeader('content-type');
      return null;
    }
    return compressed(request, reply, payload);
  });
}

function varyWith(reply: FastifyReply, header: string): string {
  const known = reply.getHeader('vary');
  return known === undefined ? header : `${known}, ${header}`;
}

/** `If-None-Match` lists tags, or says `*`; compared weakly. */
function isKnown({ 'if-none-match': known = '' }: IncomingHttpHeaders, tag: string): boolean {
  const bare = tag.slice('W/'.length);
  return known.split(',').some((each) => ['*', tag, bare].includes(each.trim()));
}

/** The best compression that a client accepts, or null. */
export function encodingFor({ headers }: FastifyRequest): 'br' | 'gzip' | null {
  // Names of encodings are case-insensitive.
  const accepted = headers['accept-encoding']?.toLowerCase() ?? 'identity';
  const encoding = negotiate(accepted, ['br', 'gzip', 'identity']);
  return encoding === 'br' || encoding === 'gzip' ? encoding : null;
}

async function compressed(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: string | Buffer,
): Promise<string | Buffer> {
  reply.header('vary', varyWith(reply, 'Accept-Encoding'));
  const encoding = payload.length < LEAST_COMPRESSED_BYTES ? null : encodingFor(request);
  if (encoding === null) return payload;
  reply.header('content-encoding', encoding).removeHeader('content-length');
  if (encoding === 'gzip') return compressWith.gzip(payload);
  const params = { ...BROTLI_PARAMETERS, [constants.BROTLI_PARAM_SIZE_HINT]: Buffer.byteLength(payload) };
  return compressWith.br(payload, { params });
}
