import type { FastifyReply } from 'fastify';
import { ZodError } from 'zod';
import { publicError, ServiceError } from '../../../serve/api/errors.js';
import type { OperationName } from '../simulator/faults.js';

/** Google's name of a status, the reason, and the text where nothing better is known. */
const STATUSES: Readonly<Record<number, readonly [status: string, reason: string, message: string]>> = {
  400: ['INVALID_ARGUMENT', 'badRequest', 'Request contains an invalid argument.'],
  401: ['UNAUTHENTICATED', 'authError', 'Request had invalid authentication credentials.'],
  403: ['PERMISSION_DENIED', 'forbidden', 'The caller does not have permission'],
  429: ['RESOURCE_EXHAUSTED', 'rateLimitExceeded', 'Resource has been exhausted (e.g. check quota).'],
  500: ['INTERNAL', 'backendError', 'Internal error encountered.'],
  503: ['UNAVAILABLE', 'backendError', 'The service is currently unavailable.'],
};

/** A refusal in Google's words; `detail` is what `details` name, or `error` where somebody signs in. */
export class Refusal extends ServiceError {
  constructor(
    status: number,
    message = STATUSES[status]?.[2] ?? '',
    readonly detail?: string,
  ) {
    super(status, message);
  }
}

/** Answers an error, that of a fault included, as the operation does: never with a `Retry-After`. */
export function sendRefusal(error: unknown, reply: FastifyReply, operation: OperationName | null): FastifyReply {
  const status = error instanceof ZodError ? 400 : publicError(error).status;
  const { message, detail } = error instanceof Refusal ? error : new Refusal(status);
  reply.code(status);
  if (operation === 'web') return reply.type('text/plain').send(message);
  if (operation === 'token') return reply.send({ error: detail ?? 'internal_failure', error_description: message });
  const [name, reason] = STATUSES[status] ?? [];
  const details = detail && [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: detail }];
  const errors = [{ message, domain: 'global', reason }];
  return reply.send({ error: { code: status, message, errors, status: name, ...(details ? { details } : {}) } });
}
