import { ServiceError } from '../service/errors.js';
import { EngineError } from '../storage/engine.js';

/** DuckDB's names of what is a file's fault, or the disk's, and not the statement's. */
const OF_A_FILE = /\b(IO|Invalid|Invalid Input|Serialization|Corrupt\w*|Not implemented) Error\b/i;
/** The file that DuckDB's message is about. */
const FILE = /["']([^"']+\.parquet)["']/;
const MISSING = /No files found|No such file|does not exist/i;
const OUT_OF_MEMORY = /\bOut of Memory Error\b/i;

/** An answer that needs a file which cannot be read; other answers go on. */
export class UnreadableError extends ServiceError {
  constructor(
    /** Whether it is not there at all: deleted after its retention, or lost. */
    readonly isMissing: boolean,
    /** What was wrong: for the log, never for a client. */
    readonly reason: string,
    /** Its path; several where it is one of them, none where that is not known. For the log, too. */
    readonly files: readonly string[],
  ) {
    super(503, 'Part of what this answer needs cannot be read.', { 'retry-after': '60' });
  }
}

/** What a failure of the engine means to who asked; everything else is as it was. */
export function explained(error: unknown): unknown {
  if (!(error instanceof EngineError)) return error;
  const { message } = error;
  if (OUT_OF_MEMORY.test(message)) {
    return new ServiceError(503, 'This answer needs more memory than there is now.', { 'retry-after': '5' });
  }
  return OF_A_FILE.test(message) ? new UnreadableError(MISSING.test(message), message, filesOf(error)) : error;
}

function filesOf({ message, parameters }: EngineError): string[] {
  const named = FILE.exec(message)?.[1];
  if (named !== undefined) return [named];
  const read = Object.values(parameters).filter((value) => Array.isArray(value));
  return read.flat().filter((file) => file.includes('/parquet/') && file.endsWith('.parquet'));
}
