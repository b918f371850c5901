import { UsageError } from '../../base/exit.js';

/** An invalid question: the caller's SQL, analysis name or parameters are wrong. A retry cannot help. */
export class QuestionError extends UsageError {}
