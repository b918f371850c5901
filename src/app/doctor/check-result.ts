import { Stopped } from '../../base/exit.js';
import { sentence } from '../../base/observe/format.js';
import { SourceError } from '../../source/errors.js';

/** What a check found. The names are those of `doctor --json`. */
export interface CheckResult {
  /** Such as `config`, `token`, `website`, `disk`. */
  check: string;
  level: 'ok' | 'warning' | 'error';
  message: string;
  /** What to do about it. */
  remedy?: string;
}

/** Makes the findings of one check. */
export function resultsOf(check: string) {
  return {
    ok: (message: string): CheckResult => ({ check, level: 'ok', message }),
    warning: (message: string, remedy: string): CheckResult => ({ check, level: 'warning', message, remedy }),
    error: (message: string, remedy: string): CheckResult => ({ check, level: 'error', message, remedy }),
  };
}

/** What to do where access is not what is missing. */
export const TRY_LATER = 'Try again later.';

/** What happened, and the remedy: what is behind the last `; ` that is not in parentheses. */
export function partsOf(error: unknown, otherwise = TRY_LATER): [message: string, remedy: string] {
  if (error instanceof Stopped) return ['no answer in time', TRY_LATER];
  if (!(error instanceof SourceError)) throw error;
  const [, message, remedy] = /^(.*); ([^()]*(?:\([^()]*\)[^()]*)*)$/s.exec(error.message) ?? [];
  return message && remedy ? [message, sentence(remedy)] : [error.message, otherwise];
}
