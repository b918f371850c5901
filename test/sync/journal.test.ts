import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { makeFolder } from '../../src/base/storage/durable.js';
import { Engine } from '../../src/base/storage/engine.js';
import { judgeReport } from '../../src/source/source.js';
import { readWindow } from '../../src/source/walk/coverage-window.js';
import { type AcceptedWindow, firstWalk } from '../../src/source/walk/walk-state.js';
import { ListingJournal } from '../../src/sync/journal/write-listing.js';
import { ReportsJournal } from '../../src/sync/journal/write-reports.js';
import { viewJournal } from '../../src/sync/stage/journal-views.js';
import { type JournalFolder, journalFolder } from '../../src/warehouse/journal/folder.js';
import { JournalError, readHeader } from '../../src/warehouse/journal/header.js';
import { readListing } from '../../src/warehouse/journal/listing.js';
import { readReports, totalOf } from '../../src/warehouse/journal/plan.js';
import { FakeListing, pageUrls } from '../given/fake-listing.js';
import { temporaryFolder } from '../given/folder.js';
import { Walking } from '../given/walking.js';

const NOW = Date.parse('2026-01-01T00:00:00.000Z');
const NEWLINE = 0x0a;

let journal: JournalFolder;
beforeEach(async () => {
  journal = journalFolder(temporaryFolder(), 'run', 'w');
  await makeFolder(journal.path);
  // Both of the files that the statements over a journal read.
  writeFileSync(journal.listing, '');
  writeFileSync(journal.reports, '');
});

/** A listing of so many pages, walked into the journal in windows of three; one entry is refused. @returns its bytes */
async function writeListing(pages: number): Promise<Buffer> {
  const listing = new FakeListing(pageUrls(pages), { cap: 3 });
  const spoil = (body: string) => body.replace('page-4","index_summary":null', 'page-4","index_summary":7');
  const walking = new Walking(async (path) => spoil(await listing.get(path)));
  const result = await walking.walk();
  const written = new ListingJournal(journal);
  for (const window of walking.windows) await written.accept(window, new Date(NOW));
  await written.finish(result, new Date(NOW), (text) => text);
  written.close();
  return readFileSync(journal.listing);
}

/** The reports of so many pages, and one that failed. @returns the bytes of the journal */
async function writeReports(pages: number): Promise<Buffer> {
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

/** The offsets behind each line, 0 first. */
function lineEnds(bytes: Buffer): number[] {
  return [0, ...[...bytes.entries()].flatMap(([at, byte]) => (byte === NEWLINE ? [at + 1] : []))];
}

interface Left {
  bytes: number;
  counted: number;
  isEnded: boolean;
}

/** Cuts a file around the end of each line and at some of the bytes between; then flips a bit there instead. */
async function expectOnlyWhole(file: string, counts: RegExp, seals: RegExp, read: () => Promise<Left>): Promise<void> {
  const whole = readFileSync(file);
  const ends = lineEnds(whole);
  const lines = ends.slice(1).map((end, at) => {
    const { kind } = z.object({ kind: z.string() }).parse(JSON.parse(whole.subarray(ends[at], end).toString()));
    return { kind, end };
  });
  const leftAt = (at: number): Left => {
    const before = lines.filter(({ end }) => end <= at);
    const counted = before.filter(({ kind }) => counts.test(kind)).length;
    return { counted, bytes: before.findLast(({ kind }) => seals.test(kind))?.end ?? 0, isEnded: at === whole.length };
  };
  expect(leftAt(whole.length).counted).toBeGreaterThan(2);
  for (const at of [...whole.keys(), whole.length]) {
    if (at % 23 > 0 && !ends.some((end) => Math.abs(end - at) <= 2)) continue;
    writeFileSync(file, whole.subarray(0, at));
    expect({ at, ...(await read()) }).toEqual({ at, ...leftAt(at) });
    if (at === whole.length) continue;
    writeFileSync(file, whole.with(at, (whole[at] ?? 0) ^ 4));
    const left = await read().catch((error: unknown) => error);
    if (left instanceof JournalError) continue;
    // Only the last line may be lost without an error, or the last two if they became one.
    expect({ at, left }).toEqual({ at, left: leftAt(at) });
    expect(at).toBeGreaterThanOrEqual((ends.at(-2) ?? 0) - 1);
  }
}

test('a listing that was cut off or damaged counts the windows that are whole', async () => {
  await writeListing(6);
  await expectOnlyWhole(journal.listing, /window/, /window|listed/, async () => {
    const { bytes, windows, kind } = await readListing(journal, NOW);
    return { bytes, counted: windows, isEnded: kind === 'listed' };
  });
});

test('reports that were cut off or damaged count only whole answers, and no line is too long', async () => {
  await writeReports(3);
  await expectOnlyWhole(journal.reports, /fetched|missing/, /./, async () => {
    const { bytes, counts, done } = await readReports(journal);
    return { bytes, counted: totalOf(counts), isEnded: done !== null };
  });
  truncateSync(journal.reports, 600e6);
  await expect(readReports(journal)).rejects.toThrow(/^\S+reports.ndjson has a line of more than 32 MB$/);
  writeFileSync(journal.header, '');
  truncateSync(journal.header, 3e9);
  await expect(readHeader(journal)).rejects.toThrow(/^\S+run.json is damaged$/);
});

test('it is written on behind its last whole window, so that DuckDB reads all of it', async () => {
  const engine = await Engine.open({ memoryLimit: 512e6, temporary: join(journal.path, 'duckdb') });
  onTestFinished(() => engine.close());
  const whole = await writeListing(6);
  const more: AcceptedWindow = {
    keep: 0,
    fresh: readWindow(await new FakeListing(pageUrls(1)).get('/v1/urls/w?skip=0')).entries,
    drift: [],
    state: { ...firstWalk(3, NOW), walk: 9, windows: 1 },
  };
  const row = z.object({ kind: z.string(), walk: z.coerce.number() });
  for (const end of lineEnds(whole).slice(0, -1)) {
    for (const cut of [end, end + 7]) {
      writeFileSync(journal.listing, whole.subarray(0, cut));
      const left = await readListing(journal, NOW);
      const written = new ListingJournal(journal, left);
      await written.accept(more, new Date(NOW));
      written.close();
      await viewJournal(engine, journal);
      const rows = await engine.rows(row, 'select kind, walk from journal_listing');
      expect(rows.filter(({ kind }) => kind === 'window')).toHaveLength(left.windows + 1);
      const added = rows.filter(({ walk }) => walk === 9).map(({ kind }) => kind);
      expect(added.sort()).toEqual(['entry', 'window']);
    }
  }
});
