import { z } from 'zod';
import { servedError } from './served.js';

const text = { type: 'string' };
const whole = { type: 'integer', minimum: 0 };

/** Headers of answers. */
export const HEADERS = {
  'X-RateLimit-Limit': { description: 'Requests per minute that the key may send.', schema: whole },
  'X-RateLimit-Remaining': { description: 'Requests left in this minute.', schema: whole },
  'X-RateLimit-Reset': { description: 'When the next minute of the key starts, in seconds since 1970.', schema: whole },
  'Retry-After': { description: 'Seconds to wait before the next request.', schema: whole },
  'WWW-Authenticate': { description: 'How to send a key.', schema: { type: 'string', const: 'Bearer' } },
  Allow: { description: 'The methods that this path supports.', schema: text },
  ETag: { description: 'Identifies this answer; send it back as `If-None-Match`.', schema: text },
  'Cache-Control': { description: 'The answer is for one key; caches must revalidate it each time.', schema: text },
  'X-Snapshot-Id': {
    description: 'The state that is shown, for the parameter `snapshot`; omitted if reports are of several websites.',
    schema: text,
  },
  'X-Snapshot-Time': {
    description: 'When the newest walk that is shown began.',
    schema: { type: 'string', format: 'date-time' },
  },
  'Indexhouse-As-Of': { description: 'When the newest snapshot began; of several websites, the oldest.', schema: text },
  'Indexhouse-Stale': { description: 'How old that is, and why; omitted unless it is too old.', schema: text },
  Vary: { description: 'What the answer depends on besides its URL.', schema: text },
} as const;
export type HeaderName = keyof typeof HEADERS;

export const RATE_HEADERS: readonly HeaderName[] = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'];
export const AGE_HEADERS: readonly HeaderName[] = ['Indexhouse-As-Of', 'Indexhouse-Stale'];
export const CACHE_HEADERS: readonly HeaderName[] = ['ETag', 'Cache-Control', 'Vary'];

export const SNAPSHOT_HEADERS: readonly HeaderName[] = ['X-Snapshot-Id', 'X-Snapshot-Time'];

/** Errors that every operation can answer with, whatever the request. */
export const ERRORS_ANYWHERE = [401, 405, 408, 414, 421, 431, 500, 503] as const;

/** The description of an answer and the names of its headers, by status. */
export const ANSWERS: Readonly<Record<number, { description: string; headers?: readonly HeaderName[] }>> = {
  304: { description: 'The client has this answer already: its `If-None-Match` names it.', headers: CACHE_HEADERS },
  400: { description: 'The request is invalid; the message names the parameter.' },
  401: { description: 'The key is missing or invalid.', headers: ['WWW-Authenticate'] },
  403: { description: 'The key has no access to this website.' },
  404: { description: 'There is no such website, page or state, or nothing was known about it then.' },
  405: { description: 'This path does not support this method.', headers: ['Allow'] },
  408: { description: 'The request did not arrive in time.' },
  413: { description: 'The body is too large.' },
  414: { description: 'The path is too long.' },
  415: { description: 'The body is not JSON.' },
  421: { description: 'The service does not serve this host name.' },
  429: { description: 'The key has exceeded its rate; `Retry-After` says for how long.', headers: ['Retry-After'] },
  431: { description: 'The headers are too large.' },
  500: { description: 'The service could not answer.' },
  503: {
    description: 'The service is busy or shutting down; `Retry-After` says when to retry.',
    headers: ['Retry-After'],
  },
};

type Content = Record<string, { schema: z.ZodType<unknown> }>;

/**
 * The answers of an operation, for Fastify: what it sends on success, and the errors that only some operations have.
 * They only describe: no answer is checked against them when it is sent.
 */
export function answersOf(content: z.ZodType<unknown> | Content, errors: readonly number[] = []) {
  const body = content instanceof z.ZodType ? { 'application/json': { schema: content } } : content;
  const failed = errors.map((status) => [status, servedError]);
  return { 200: { description: 'The answer.', content: body }, ...Object.fromEntries(failed) };
}

/** OpenAPI links from a 200: which operations take its values, and as which parameters. */
export function linksTo(operations: Readonly<Record<string, Record<string, string>>>) {
  const links = Object.entries(operations).map(([id, parameters]) => [id, { operationId: id, parameters }]);
  return { 200: Object.fromEntries(links) };
}
