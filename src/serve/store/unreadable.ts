import { EngineError, MemoryError } from '../../base/storage/engine.js';
import { DamageError } from '../../warehouse/log/folder/damage.js';
import { ServiceError } from '../api/errors.js';

/** DuckDB's names for errors that are the fault of a file or the disk, not of the statement. */
const OF_A_FILE = /\b(IO|Invalid|Invalid Input|Serialization|Corrupt\w*|Not implemented) Error\b/i;
/** The file that DuckDB's message is about. */
const FILE = /["']([^"']+\.parquet)["']/;
const MISSING = /No files found|No such file|does not exist/i;

/** This answer needs a file that cannot be read; other answers do not. */
export class UnreadableError extends ServiceError {
  constructor(
    /** Whether the file is missing: deleted after its retention, or lost. */
    readonly isMissing: boolean,
    /** What was wrong: for the log, never for a client. */
    readonly reason: string,
    /** Its path; several if it is one of them, none if it is unknown. Also only for the log. */
    readonly files: readonly string[],
  ) {
    super(503, 'Some of the data for this answer cannot be read.', { 'retry-after': '60' });
  }
}

/** What a client gets for an engine's error about memory or a file; any other error is returned as it is. */
export function explained(error: unknown): unknown {
  if (error instanceof DamageError) {
    const { damaged, message } = error;
    const isMissing = damaged.every(({ reason }) => reason === 'is missing');
    const paths = damaged.map(({ path }) => path);
    return new UnreadableError(isMissing, message, paths);
  }
  if (!(error instanceof EngineError)) return error;
  const { message } = error;
  if (error instanceof MemoryError) {
    return new ServiceError(503, 'This answer needs more memory than is available now.', { 'retry-after': '5' });
  }
  return OF_A_FILE.test(message) ? new UnreadableError(MISSING.test(message), message, filesBehind(error)) : error;
}

function filesBehind({ message, parameters }: EngineError): string[] {
  const named = FILE.exec(message)?.[1];
  if (named !== undefined) return [named];
  const read = Object.values(parameters).filter((value) => Array.isArray(value));
  return read.flat().filter((file) => file.includes('/parquet/') && file.endsWith('.parquet'));
}
