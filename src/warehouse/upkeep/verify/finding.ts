/**
 * One thing that `verify` found. `difference`: the warehouse is not what it claims to be. `lag`: something is only
 * behind. `note`: worth knowing, but nothing is wrong.
 */
export interface Finding {
  check: string;
  level: 'note' | 'lag' | 'difference';
  message: string;
  remedy: string;
}

/** A finding that `--repair` can fix: `repair` does so, and returns what was done. */
export interface Repairable extends Finding {
  repair?: () => Promise<string>;
}

export interface Verified {
  snapshots: number;
  files: number;
  rows: number;
  findings: Finding[];
  /** What `--repair` fixed; no longer among the findings. */
  repaired: string[];
}

const RESTORE = 'restore the file from a backup; it cannot be rebuilt from anything else';

export function damaged(message: string): Finding {
  return { check: 'files', level: 'difference', message, remedy: RESTORE };
}

/** 1 for a difference, 3 if something only lags, else 0. */
export function verifyExitCode({ findings }: Verified): 0 | 1 | 3 {
  if (findings.some(({ level }) => level === 'difference')) return 1;
  return findings.some(({ level }) => level === 'lag') ? 3 : 0;
}
