import type { Shrunk } from '../followers/shrink.js';
import { THINNED_TABLES } from '../warehouse/tables.js';
import type { Amount, Removed } from './removal.js';
import type { PlannedFile } from './thinning.js';
import { FATES, type Fate } from './thinning.js';

/** What became of the files of one website and table. The names are those of `maintain --json`. */
export interface TableThinned {
  website_id: string;
  table: string;
  /** Put out of use now. In a dry run: that would be. */
  files: number;
  rows: number;
  bytes: number;
  /** Their first and last date; null where there are none. */
  first_date: string | null;
  last_date: string | null;
  /** What stays, by the reason for it. */
  kept: ({ reason: Exclude<Fate, 'goes'>; rows: number } & Amount)[];
}

/** The names are those of `maintain --json`. */
export interface MaintainReceipt extends Removed {
  dry_run: boolean;
  /** Whether `retention` names anything that is not to be kept for good. */
  configured: boolean;
  /** Parquet files of earlier dates are thinned, to `weekly` or `monthly`; null: none are. */
  thinned_before: string | null;
  thinned_to: 'weekly' | 'monthly' | null;
  parquet: TableThinned[];
  /** Null where it was left alone. */
  duckdb: Shrunk | null;
}

/** Counts the planned files of one website by table. */
export function thinnedTables(websiteId: string, planned: readonly PlannedFile[]): TableThinned[] {
  return THINNED_TABLES.flatMap((table) => {
    const own = planned.filter((file) => file.table === table);
    if (own.length === 0) return [];
    const goes = own.filter(({ fate }) => fate === 'goes');
    const dates = goes.map(({ marker }) => marker.date).sort();
    const kept = FATES.flatMap((fate) => {
      const staying = own.filter((file) => file.fate === fate);
      return fate === 'goes' || staying.length === 0 ? [] : [{ reason: fate, ...sumOf(staying) }];
    });
    const ends = { first_date: dates.at(0) ?? null, last_date: dates.at(-1) ?? null };
    return [{ website_id: websiteId, table, ...sumOf(goes), ...ends, kept }];
  });
}

function sumOf(files: readonly PlannedFile[]): { rows: number } & Amount {
  return {
    files: files.length,
    rows: files.reduce((all, { rows }) => all + rows, 0),
    bytes: files.reduce((all, { bytes }) => all + bytes, 0),
  };
}

/** 3 where `indexhouse.duckdb` could not be made smaller now. */
export function exitCodeOf({ dry_run, duckdb }: MaintainReceipt): 0 | 3 {
  return !dry_run && duckdb?.reason ? 3 : 0;
}
