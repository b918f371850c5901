/** What a check found. The names are those of `doctor --json`. */
export interface Finding {
  /** Such as `config`, `token`, `website`, `disk`. */
  check: string;
  level: 'ok' | 'warning' | 'error';
  message: string;
  /** What to do about it. */
  remedy?: string;
}

/** Makes the findings of one check. */
export function findingsOf(check: string) {
  return {
    ok: (message: string): Finding => ({ check, level: 'ok', message }),
    warning: (message: string, remedy: string): Finding => ({ check, level: 'warning', message, remedy }),
    error: (message: string, remedy: string): Finding => ({ check, level: 'error', message, remedy }),
  };
}
