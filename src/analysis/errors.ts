import { UsageError } from '../exit.js';

/** A question that cannot be asked: the caller's SQL, analysis name or parameters are wrong. Asking again cannot help. */
export class QuestionError extends UsageError {}
