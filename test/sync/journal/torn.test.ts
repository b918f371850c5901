import { writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { readWindow } from '../../../src/source/walk/coverage-window.js';
import type { AcceptedWindow } from '../../../src/source/walk/walk-state.js';
import { firstWalk } from '../../../src/source/walk/walk-state.js';
import { ListingJournal } from '../../../src/sync/journal/write-listing.js';
import type { JournalFolder } from '../../../src/warehouse/journal/folder.js';
import { readListing } from '../../../src/warehouse/journal/listing.js';
import { readReports } from '../../../src/warehouse/journal/reports.js';
import { atLength, once } from '../../given/at-length.js';
import { FakeListing, pageUrls } from '../../given/fake-listing.js';
import { temporaryFolder } from '../../given/folder.js';
import { emptyJournal, NOW, openEngine, readByDuckDB, writeListing, writeReports } from './given.js';

const NEWLINE = 0x0a;
let journal: JournalFolder;
beforeEach(async () => {
  journal = await emptyJournal(temporaryFolder());
});

/** In windows of three; one entry is refused. */
const walked = (folder: JournalFolder) =>
  writeListing(folder, {
    pages: 6,
    cap: 3,
    spoil: (body) => body.replace('page-4","index_summary":null', 'page-4","index_summary":7'),
  });
const fetched = (folder: JournalFolder) => writeReports(folder, 3);

/** Where a file is cut: around the end of each line, and at each byte or at some of them between. */
function cutsOf(bytes: Buffer): number[] {
  const step = atLength(23, 1);
  const ends = lineEnds(bytes);
  return [...bytes.keys(), bytes.length].filter((at) => at % step === 0 || ends.some((end) => Math.abs(end - at) <= 2));
}

/** The offsets behind each line, 0 first. */
function lineEnds(bytes: Buffer): number[] {
  const ends = [0];
  for (const [at, byte] of bytes.entries()) if (byte === NEWLINE) ends.push(at + 1);
  return ends;
}

function linesOf(bytes: Buffer): { kind: string; end: number }[] {
  const ends = lineEnds(bytes);
  return ends
    .slice(1)
    .map((end, at) => ({ kind: JSON.parse(bytes.subarray(ends[at], end).toString()).kind as string, end }));
}

describe('a listing that was cut off', () => {
  it('counts the windows that are whole, wherever the cut is', async () => {
    const whole = await walked(journal);
    const lines = linesOf(whole);
    expect(lines.map(({ kind }) => kind).filter((kind) => kind === 'window').length).toBeGreaterThan(2);
    for (const cut of cutsOf(whole)) {
      writeFileSync(journal.listing, whole.subarray(0, cut));
      const left = await readListing(journal, NOW);
      const windows = lines.filter(({ kind, end }) => kind === 'window' && end <= cut);
      const listed = lines.some(({ kind, end }) => kind === 'listed' && end <= cut);
      expect({ cut, kind: left.kind, windows: left.windows }).toEqual({
        cut,
        kind: listed ? 'listed' : 'walking',
        windows: windows.length,
      });
      if (!listed) expect(left.bytes).toBe(windows.at(-1)?.end ?? 0);
    }
  });

  once('is written on behind its last whole window, so that DuckDB reads all of it', async () => {
    const engine = await openEngine(journal.path);
    onTestFinished(() => engine.close());
    const whole = await walked(journal);
    const more: AcceptedWindow = {
      keep: 0,
      fresh: readWindow(await new FakeListing(pageUrls(1)).get('/v1/urls/w?skip=0')).entries,
      drift: [],
      state: { ...firstWalk(3, NOW), walk: 9, windows: 1 },
    };
    for (const end of lineEnds(whole)) {
      for (const cut of [end - 1, end, end + 1, end + 7].filter((at) => at >= 0 && at < whole.length)) {
        writeFileSync(journal.listing, whole.subarray(0, cut));
        const left = await readListing(journal, NOW);
        const written = new ListingJournal(journal, left);
        await written.accept(more, new Date(NOW));
        written.close();
        const rows = await readByDuckDB(engine, journal, 'select kind, walk from journal_listing');
        expect(rows.filter(({ kind }) => kind === 'window')).toHaveLength(left.windows + 1);
        expect(
          rows
            .filter(({ walk }) => walk === 9)
            .map(({ kind }) => kind)
            .sort(),
        ).toEqual(['entry', 'window']);
      }
    }
  });
});

describe('reports that were cut off', () => {
  it('count only whole answers, wherever the cut is', async () => {
    const whole = await fetched(journal);
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
});
