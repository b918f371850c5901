/** Exit codes of every command. */
export const EXIT = { done: 0, failed: 1, usage: 2, warnings: 3, busy: 4, stopped: 130 } as const;

/** An error whose message says what happened, where, and what to do. */
export class Failure extends Error {
  /** The exit code of the process if nothing catches the error. */
  readonly exitCode: number = EXIT.failed;

  constructor(message?: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The message of an error, whatever was thrown, without a full stop at its end, because mostly more words follow. */
export function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/(?<!\.)\.$/, '');
}

/** The request itself is wrong: its flags, configuration, names or files. Nothing was changed. */
export class UsageError extends Failure {
  override readonly exitCode = EXIT.usage;
}

/** Another process holds what this one needs to write. */
export class BusyError extends Failure {
  override readonly exitCode = EXIT.busy;
}

/** A copy cannot be reached or belongs to another folder: any further request to it would fail in the same way. */
export class UnreachableError extends Failure {}

/** The process was asked to stop. */
export class Stopped extends Failure {
  override readonly exitCode = EXIT.stopped;

  constructor(message = 'stopped before the end; the next `indexhouse sync` resumes the run') {
    super(message);
  }
}
