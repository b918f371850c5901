import { SourceError } from '../../src/source/errors.js';

/** The error that a request ends with. */
export async function failure(promise: Promise<unknown>): Promise<SourceError> {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (error instanceof SourceError) return error;
  throw new Error(`expected a SourceError, got ${String(error)}`);
}
