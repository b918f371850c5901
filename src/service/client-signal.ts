import type { FastifyReply } from 'fastify';
import { ServiceError } from './errors.js';

/** Aborted when the connection of a request ends before its answer is sent; its reason is told to nobody. */
export function clientSignal({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController();
  raw.once('close', () => {
    if (!raw.writableFinished) controller.abort(new ServiceError(503, 'The client is gone.'));
  });
  return controller.signal;
}
