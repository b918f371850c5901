import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { makeFolder } from '../../../src/base/storage/durable.js';
import { Engine } from '../../../src/base/storage/engine.js';
import { judgeReport } from '../../../src/source/report.js';
import { ListingJournal } from '../../../src/sync/journal/write-listing.js';
import { ReportsJournal } from '../../../src/sync/journal/write-reports.js';
import { viewJournal } from '../../../src/sync/stage/journal-views.js';
import { type JournalFolder, journalFolder } from '../../../src/warehouse/journal/folder.js';
import { FakeListing, pageUrls } from '../../given/fake-listing.js';
import { Walking } from '../../given/walking.js';

export const NOW = Date.parse('2026-01-01T00:00:00.000Z');

/** An empty journal below a folder, with both of the files that the statements over a journal read. */
export async function emptyJournal(folder: string, name = 'w'): Promise<JournalFolder> {
  const journal = journalFolder(folder, 'run', name);
  await makeFolder(journal.path);
  writeFileSync(journal.listing, '');
  writeFileSync(journal.reports, '');
  return journal;
}

export function openEngine(folder: string): Promise<Engine> {
  return Engine.open({ memoryLimit: 512e6, temporary: join(folder, 'duckdb') });
}

const anyRow = z.record(z.string(), z.unknown());
export type JournalRow = z.infer<typeof anyRow>;

/** What DuckDB reads of a journal, with the statements that staging uses. */
export async function readByDuckDB(engine: Engine, journal: JournalFolder, query: string): Promise<JournalRow[]> {
  await viewJournal(engine, journal);
  return engine.rows(anyRow, query);
}

/** A listing of so many pages, walked into a journal in windows of `cap`, as its answers are spoilt. @returns its bytes */
export async function writeListing(
  journal: JournalFolder,
  { pages, cap, spoil = (body) => body }: { pages: number; cap: number; spoil?: (body: string) => string },
): Promise<Buffer> {
  const listing = new FakeListing(pageUrls(pages), { cap });
  const walking = new Walking(async (path) => spoil(await listing.get(path)));
  const result = await walking.walk();
  const written = new ListingJournal(journal);
  for (const window of walking.windows) await written.accept(window, new Date(NOW));
  await written.finish(result, new Date(NOW), (text) => text);
  written.close();
  return readFileSync(journal.listing);
}

/** The reports of so many pages, and one that failed. @returns the bytes of the journal */
export async function writeReports(journal: JournalFolder, pages: number): Promise<Buffer> {
  const written = new ReportsJournal(journal);
  for (const url of pageUrls(pages)) {
    const body = `{"url":${JSON.stringify(url)},"index_summary":"Indexed ä😀","days_since_last_crawl":123,"x":[1]}`;
    await written.record({ url, reason: 'new' }, judgeReport(body, url), new Date(NOW));
  }
  const missing = { outcome: 'missing', status: 404, message: 'no' } as const;
  await written.record({ url: 'https://e.com/gone', reason: 'new' }, missing, new Date(NOW));
  await written.finish('complete', null, new Date(NOW));
  written.close();
  return readFileSync(journal.reports);
}
