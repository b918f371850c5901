import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { KeyDetails } from '../../source/contract/key.js';
import { ServiceError } from './errors.js';
import type { Limiter } from './rate-limit.js';
import type { RequestContext, Store } from './store.js';

const BEARER = /^Bearer +([^\s]+) *$/i;

/** Takes an error that is not the client's fault, and the request that it ended. */
export type OnError = (error: unknown, request: FastifyRequest) => void;

/** What the operations of the interface share. */
export interface Interface {
  store: Store;
  maxLimit: number;
  limiter: Limiter | null;
  onKey?: ((request: FastifyRequest, key: KeyDetails) => void) | undefined;
}

const keys = new WeakMap<FastifyRequest, KeyDetails>();

/** A hook for routes that need a key; it throws 401 without a known one and 429 above its rate. */
export function admission({ store, limiter, onKey }: Interface) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const key = await presentedKey(request, store);
    onKey?.(request, key);
    reply.headers(await ageHeaders(store, request, key));
    const decision = limiter?.take(key._id);
    if (decision) reply.headers(decision.headers);
    if (decision?.allowed === false) throw new ServiceError(429, 'Too many requests for this API key.');
    keys.set(request, key);
  };
}

/** How old the data is of the website that a request is about, or of all that its key may read. */
async function ageHeaders(store: Store, { params }: FastifyRequest, key: KeyDetails): Promise<Record<string, string>> {
  const { website_id: only } = z.object({ website_id: z.string().optional() }).parse(params);
  const age = await store.dataAge?.(readableBy(key).filter((id) => only === undefined || id === only));
  // Names and errors may hold what no header can.
  const stale = age?.stale?.replace(/[^ -~]+/g, '?').slice(0, 500);
  return { ...(age && { 'indexhouse-as-of': age.asOf }), ...(stale && { 'indexhouse-stale': stale }) };
}

/** @throws ServiceError 401 without a known key */
export async function presentedKey(
  { headers }: FastifyRequest,
  { findKey }: Pick<Store, 'findKey'>,
): Promise<KeyDetails> {
  const token = BEARER.exec(headers.authorization ?? '')?.[1];
  const key = token === undefined ? null : await findKey(token);
  if (key) return key;
  throw new ServiceError(401, 'A valid API key is required.', { 'www-authenticate': 'Bearer' });
}

/** Whose request it is, and a signal for when the client is gone. */
export function contextOf(request: FastifyRequest, reply: FastifyReply): RequestContext {
  const origin = `${request.protocol}://${request.host}`;
  return { keyId: keyOf(request)._id, signal: clientSignal(reply), origin };
}

/** Aborted when the connection of a request ends before its answer is sent. Nobody sees the reason. */
export function clientSignal({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController();
  raw.once('close', () => {
    if (!raw.writableFinished) controller.abort(new ServiceError(503, 'The client is gone.'));
  });
  return controller.signal;
}

/** The key that a request was admitted with. */
export function keyOf(request: FastifyRequest): KeyDetails {
  const key = keys.get(request);
  if (!key) throw new Error('this operation was reached without a key');
  return key;
}

/** The websites that a key may read. */
export function readableBy(key: KeyDetails): string[] {
  return key.websites_access.map(({ _id }) => _id);
}
