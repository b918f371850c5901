import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { makeFolder } from '../../src/base/storage/durable.js';
import { Engine } from '../../src/base/storage/engine.js';
import { judgeReport } from '../../src/source/report.js';
import { readWindow } from '../../src/source/walk/coverage-window.js';
import { type AcceptedWindow, firstWalk } from '../../src/source/walk/walk-state.js';
import { ListingJournal } from '../../src/sync/journal/write-listing.js';
import { ReportsJournal } from '../../src/sync/journal/write-reports.js';
import { viewJournal } from '../../src/sync/stage/journal-views.js';
import { type JournalFolder, journalFolder } from '../../src/warehouse/journal/folder.js';
import { JournalError, readHeader } from '../../src/warehouse/journal/header.js';
import { readListing } from '../../src/warehouse/journal/listing.js';
import { readReports } from '../../src/warehouse/journal/reports.js';
import { FakeListing, pageUrls } from '../given/fake-listing.js';
import { temporaryFolder } from '../given/folder.js';
import { Walking } from '../given/walking.js';

const NOW = Date.parse('2026-01-01T00:00:00.000Z');
const NEWLINE = 0x0a;
/** A window's entries come before its own line, which seals them. */
const END_LINES = 6;

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

/** Where a file is cut: around the end of each line, and at some of the bytes between. */
function cutsOf(bytes: Buffer): number[] {
  const ends = lineEnds(bytes);
  return [...bytes.keys(), bytes.length].filter((at) => at % 23 === 0 || ends.some((end) => Math.abs(end - at) <= 2));
}

/** The offsets behind each line, 0 first. */
function lineEnds(bytes: Buffer): number[] {
  return [0, ...[...bytes.entries()].flatMap(([at, byte]) => (byte === NEWLINE ? [at + 1] : []))];
}

function linesOf(bytes: Buffer): { kind: string; end: number }[] {
  const ends = lineEnds(bytes);
  return ends.slice(1).map((end, at) => {
    const { kind } = z.object({ kind: z.string() }).parse(JSON.parse(bytes.subarray(ends[at], end).toString()));
    return { kind, end };
  });
}

test('a listing that was cut off counts the windows that are whole, wherever the cut is', async () => {
  const whole = await writeListing(6);
  const lines = linesOf(whole);
  expect(lines.filter(({ kind }) => kind === 'window').length).toBeGreaterThan(2);
  for (const cut of cutsOf(whole)) {
    writeFileSync(journal.listing, whole.subarray(0, cut));
    const left = await readListing(journal, NOW);
    const windows = lines.filter(({ kind, end }) => kind === 'window' && end <= cut);
    const isEnded = lines.some(({ kind, end }) => kind === 'listed' && end <= cut);
    const kind = isEnded ? 'listed' : 'walking';
    expect({ cut, kind: left.kind, windows: left.windows }).toEqual({ cut, kind, windows: windows.length });
    if (!isEnded) expect(left.bytes).toBe(windows.at(-1)?.end ?? 0);
  }
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

test('reports that were cut off count only whole answers, wherever the cut is', async () => {
  const whole = await writeReports(3);
  const lines = linesOf(whole);
  for (const cut of cutsOf(whole)) {
    writeFileSync(journal.reports, whole.subarray(0, cut));
    const left = await readReports(journal);
    const answers = lines.filter(({ kind, end }) => kind !== 'done' && end <= cut).length;
    expect(Object.values(left.counts).reduce((all, each) => all + each, 0)).toBe(answers);
    expect(left.bytes).toBe(lines.filter(({ end }) => end <= cut).at(-1)?.end ?? 0);
    expect(left.done === null).toBe(cut < whole.length);
  }
});

/** Bytes put over some of a file, or taken out of it, somewhere. */
const damage = fc.record({
  at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  take: fc.nat({ max: 400 }),
  put: fc.oneof(
    fc.uint8Array({ maxLength: 20 }),
    fc.nat({ max: 300 }).map((length) => new Uint8Array(length)),
  ),
});

/** The lines that are read from a damaged file are the first ones as they were written; else the journal is damaged. */
async function readsTheBeginning(file: string, read: () => Promise<{ bytes: number; isEnded: boolean }>) {
  const whole = readFileSync(file);
  await fc.assert(
    fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 3 }), async (damages) => {
      const bytes = damages.reduce((all, { at, take, put }) => {
        const from = Math.floor(at * all.length);
        return Buffer.concat([all.subarray(0, from), put, all.subarray(from + take)]);
      }, whole);
      writeFileSync(file, bytes);
      const left = await read().catch((error: unknown) => {
        if (error instanceof JournalError) return null;
        throw error;
      });
      if (left === null) return;
      expect(bytes.subarray(0, left.bytes)).toEqual(whole.subarray(0, left.bytes));
      if (left.isEnded) expect(bytes).toEqual(whole);
      // Only the last line may be lost without an error.
      expect(bytes.subarray(left.bytes, -1).filter((byte) => byte === NEWLINE).length).toBeLessThan(END_LINES);
    }),
    { numRuns: 60 },
  );
}

test('whatever is damaged, nothing is read that was not written, and no line that is too long', async () => {
  await writeReports(12);
  await readsTheBeginning(journal.reports, async () => {
    const { bytes, done } = await readReports(journal);
    return { bytes, isEnded: done !== null };
  });
  await writeListing(20);
  await readsTheBeginning(journal.listing, async () => {
    const { bytes, kind } = await readListing(journal, NOW);
    return { bytes, isEnded: kind === 'listed' };
  });
  writeFileSync(journal.reports, '');
  truncateSync(journal.reports, 600e6);
  await expect(readReports(journal)).rejects.toThrow(/^\S+reports.ndjson has a line of more than 32 MB$/);
  writeFileSync(journal.header, '');
  truncateSync(journal.header, 3e9);
  await expect(readHeader(journal)).rejects.toThrow(/^\S+run.json is damaged$/);
});
