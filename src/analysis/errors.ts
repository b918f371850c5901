/** A question that cannot be asked: the caller's SQL, analysis name or parameters are wrong. Asking again cannot help. */
export class QuestionError extends Error {
  override name = 'QuestionError';
}

/** The process was asked to stop before the answer was whole. */
export class QuestionStopped extends Error {
  // As every command that is stopped: the process ends with its signal's exit code.
  override name = 'Stopped';

  constructor(name: string) {
    super(`${name}: stopped before the answer was whole`);
  }
}
