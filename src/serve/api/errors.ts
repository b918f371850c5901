import { STATUS_CODES } from 'node:http';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { ErrorBody } from '../../source/contract/key.js';

/** Texts of `error` where the status' own name in snake case is not the documented one. */
const ERROR_NAMES: Readonly<Record<number, string>> = { 429: 'rate_limit_exceeded', 500: 'internal_error' };

const frameworkRefusal = z.object({ statusCode: z.int().min(400).max(499) });

/** An answer other than 200. Its message is public, so it never says what went wrong inside. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';

  constructor(
    readonly status: number,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}

/** The body of an error (specification, section 7): `{error, message, status}`. */
export function errorBody(status: number, message: string): ErrorBody {
  const inSnakeCase = (STATUS_CODES[status] ?? 'error').toLowerCase().replaceAll(/[^a-z]+/g, '_');
  return { error: ERROR_NAMES[status] ?? inSnakeCase, message, status };
}

/**
 * What a client may know of an error: a `ServiceError` as it is; for an invalid parameter, what its schema says; for a
 * refusal by the framework (4xx), its status and the status' name; for anything else, a 500 without details.
 */
export function publicError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  if (hasZodFastifySchemaValidationErrors(error)) return new ServiceError(400, error.validation[0]?.message ?? '');
  const { success, data } = frameworkRefusal.safeParse(error);
  if (success) return new ServiceError(data.statusCode, `${STATUS_CODES[data.statusCode] ?? 'Refused'}.`);
  return new ServiceError(500, 'The service could not answer this request.');
}
