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
