import type { Command } from 'commander';
import type { Define } from '../program.js';

const VERIFY_HELP = `
Reads every marked file, so it takes as long as reading the warehouse does. A running sync does not disturb it.

Exit codes: 0 no differences found; 1 a difference; 3 something only lags.

Examples:
  indexhouse verify
  indexhouse verify --repair      also repair what is safe to repair: state, indexhouse.duckdb, orphaned files`;

const REBUILD_HELP = `
The Parquet files are the truth; indexhouse.duckdb only follows them, so it can be rebuilt at any time. The old file is
replaced when the new one is whole.

Example:
  indexhouse rebuild`;

const MAINTAIN_HELP = `
The \`retention\` section of the configuration controls what is removed; without it everything is kept. Parquet files
are put out of use first, and deleted by a run an hour later, so that readers can finish. A file with a page's newest
report, the last listing of a monitored page or the newest complete listing always stays; indexhouse.duckdb goes by the
date alone.

Exit codes: 0 done; 3 done, but indexhouse.duckdb is in use and could not be made smaller.

Examples:
  indexhouse maintain --dry-run      only show what would be removed, and why the rest stays
  indexhouse maintain                best once a day, after the sync`;

/** The commands that keep a warehouse in order. */
export function upkeepCommands(define: Define): Command[] {
  return [
    define(
      'verify',
      'prove that nothing is lost: files, counts, keys, state, and indexhouse.duckdb row for row',
      () => import('../verify.js'),
    )
      .option('--repair', 'repair what is safe to repair')
      .addHelpText('after', VERIFY_HELP),
    define('rebuild', 'rebuild indexhouse.duckdb from the Parquet files', () => import('../rebuild.js')).addHelpText(
      'after',
      REBUILD_HELP,
    ),
    define(
      'maintain',
      'remove what is older than the configured retention, and free its space',
      () => import('../maintain.js'),
    )
      .option('--dry-run', 'only show what would be removed, and why the rest stays')
      .addHelpText('after', MAINTAIN_HELP),
  ];
}
