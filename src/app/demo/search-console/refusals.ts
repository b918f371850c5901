import type { FastifyReply } from 'fastify';
import { ZodError } from 'zod';
import { publicError, ServiceError } from '../../../serve/api/errors.js';

/** Google's name of a status, and the text where nothing better is known. */
const STATUSES: Readonly<Record<number, readonly [name: string, message: string]>> = {
  400: ['INVALID_ARGUMENT', 'Request contains an invalid argument.'],
  401: ['UNAUTHENTICATED', 'Request had invalid authentication credentials.'],
  403: ['PERMISSION_DENIED', 'The caller does not have permission'],
  429: ['RESOURCE_EXHAUSTED', 'Resource has been exhausted (e.g. check quota).'],
  500: ['INTERNAL', 'Internal error encountered.'],
  503: ['UNAVAILABLE', 'The service is currently unavailable.'],
};

/** A refusal in Google's words; `error` is its code where somebody signs in. */
export class Refusal extends ServiceError {
  constructor(
    status: number,
    message = STATUSES[status]?.[1] ?? '',
    readonly error?: string,
  ) {
    super(status, message);
  }
}

/** Answers an error, that of a fault included, as Google does: never with a `Retry-After`. */
export function sendRefusal(cause: unknown, reply: FastifyReply): FastifyReply {
  const code = cause instanceof ZodError ? 400 : publicError(cause).status;
  const { message, error } = cause instanceof Refusal ? cause : new Refusal(code);
  const signIn = error && { error, error_description: message };
  return reply.code(code).send(signIn || { error: { code, message, status: STATUSES[code]?.[0] } });
}
