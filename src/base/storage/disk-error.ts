import { messageOf } from '../exit.js';

const FULL =
  /\b(ENOSPC|EDQUOT)\b|No space left on device|Disk quota exceeded|max_temp_directory_size|that a run leaves free/;
const REMEDIES = [
  [
    FULL,
    'The disk is full: free some space and run `indexhouse sync` again; it resumes, and nothing committed is lost',
  ],
  [
    /\bEROFS\b|Read-only file system/,
    'The file system is mounted read-only: make it writable, or choose another warehouse.path; no data is lost',
  ],
  [
    /\b(EACCES|EPERM)\b|IO Error.*Permission denied/,
    'This user may not write there: check who owns the folder; no data is lost',
  ],
] as const;

/** What the user can do about a disk that cannot be written; null if the error is about something else. */
export function diskRemedy(error: unknown): string | null {
  const text = textOf(error);
  return REMEDIES.find(([form]) => form.test(text))?.[1] ?? null;
}

/** Whether the disk, or this user's share of it, is full. */
export function isDiskFull(error: unknown): boolean {
  return FULL.test(textOf(error));
}

/** An error's message, with the remedy if the disk is the cause. */
export function withRemedy(error: unknown): string {
  const message = messageOf(error);
  const remedy = diskRemedy(error);
  return remedy === null || message.includes(remedy) ? message : `${message}. ${remedy}`;
}

/** An error that names the file, because Node's own errors about writes do not. */
export function cannotWrite(file: string, cause: unknown): Error {
  return new Error(`cannot write ${file}: ${withRemedy(cause)}`, { cause });
}

function textOf(error: unknown): string {
  return error instanceof Error ? `${'code' in error ? error.code : ''} ${error.message}` : String(error);
}
