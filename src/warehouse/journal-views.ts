import { z } from 'zod';
import { KNOWN_VALUES } from '../contract/known-values.js';
import type { JournalFolder } from '../journal/folder.js';
import type { Engine } from '../storage/engine.js';
import { sql } from '../storage/sql.js';

const WALK_LINES = ['walk_lines', 'journal_windows'];
const KEPT_WALK = ['kept_entries', 'doubled_urls', 'listed_entries'];
const ODD_RECORDS = ['odd_entries', 'odd_reports'];

/** Makes the views over a journal as it lies on disk. Both files must exist; they may be empty. */
export async function viewJournal(engine: Engine, folder: JournalFolder): Promise<void> {
  await engine.set({
    listing_file: folder.listing,
    reports_file: folder.reports,
    known_coverage: knownValues('coverage'),
    known_url_report: knownValues('url_report'),
  });
  await engine.run(sql('stage/joins_as_written'));
  await engine.run(sql('stage/journal_listing'));
  await engine.run(sql('stage/journal_reports'));
}

const walkOddities = z.object({ has_odd_entries: z.boolean(), has_doubled_urls: z.boolean() });

/** Makes the view `listed_entries`: what one walk of the journal lists, each page once. */
export async function viewKeptWalk(engine: Engine, walk: number): Promise<void> {
  await engine.set({ walk });
  for (const name of WALK_LINES) await engine.run(sql(`stage/${name}`));
  const [oddities] = await engine.rows(walkOddities, sql('stage/walk_oddities'));
  if (oddities) await engine.set(oddities);
  for (const name of KEPT_WALK) await engine.run(sql(`stage/${name}`));
}

/**
 * Keeps what is no plain record of the kept walk and of the reports as `odd_entries` and `odd_reports`: the journal is
 * large, and these are asked for several times.
 */
export async function keepOddRecords(engine: Engine): Promise<void> {
  for (const name of ODD_RECORDS) await engine.run(sql(`stage/${name}`));
}

const fingerprintRow = z.object({ pages: z.int(), rejected: z.int(), fingerprint: z.string() });
export type WalkFingerprint = z.infer<typeof fingerprintRow>;

/** How many pages a walk lists, how many were rejected, and a value that two walks share if they list the same. */
export async function walkFingerprint(engine: Engine, walk: number): Promise<WalkFingerprint> {
  await viewKeptWalk(engine, walk);
  const [row] = await engine.rows(fingerprintRow, sql('stage/listing_fingerprint'));
  return row ?? { pages: 0, rejected: 0, fingerprint: '' };
}

function knownValues(source: 'coverage' | 'url_report'): string[] {
  return Object.entries(KNOWN_VALUES[source]).flatMap(([field, values]) => values.map((value) => `${field}=${value}`));
}
