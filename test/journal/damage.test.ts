import { readFileSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ListingJournal, scanListing } from '../../src/journal/listing.js';
import { ReportsJournal, scanReports } from '../../src/journal/reports.js';
import { judgeReport } from '../../src/source/report.js';
import { atLength } from '../given/at-length.js';
import { FakeListing, pageUrls } from '../given/fake-listing.js';
import { temporaryFolder } from '../given/folder.js';
import { emptyJournal } from '../given/journal.js';
import { Walking } from '../given/walking.js';

const NOW = Date.parse('2026-01-01T00:00:00.000Z');
const RUNS = atLength(80, 300);

/** Bytes put over some of a file, or taken out of it, somewhere. */
const damage = fc.record({
  at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  take: fc.nat({ max: 400 }),
  put: fc.oneof(
    fc.uint8Array({ maxLength: 20 }),
    fc.nat({ max: 300 }).map((length) => new Uint8Array(length)),
  ),
});

function damaged(bytes: Buffer, damages: { at: number; take: number; put: Uint8Array }[]): Buffer {
  return damages.reduce((all, { at, take, put }) => {
    const from = Math.floor(at * all.length);
    return Buffer.concat([all.subarray(0, from), put, all.subarray(from + take)]);
  }, bytes);
}

it('whatever is damaged, each answer that is taken is one that was written, and none that is whole is lost', async () => {
  const journal = await emptyJournal(temporaryFolder());
  const written = new ReportsJournal(journal);
  for (const url of pageUrls(12)) {
    const body = JSON.stringify({ url, index_summary: 'Indexed ä😀', days_since_last_crawl: 123 });
    await written.record({ url, reason: 'new' }, judgeReport(body, url), new Date(NOW));
  }
  await written.finish('complete', null);
  written.close();
  const whole = readFileSync(journal.reports);
  const lines = whole.toString().split('\n').slice(0, -1);
  await fc.assert(
    fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 3 }), async (damages) => {
      const bytes = damaged(whole, damages);
      writeFileSync(journal.reports, bytes);
      const taken: string[] = [];
      const scan = await scanReports(journal, (line) => void taken.push(line));
      // In latin1, so that bytes which are no text are as many characters.
      const left = bytes.toString('latin1').split('\n').slice(0, -1);
      const answers = lines.slice(0, -1).filter((line) => left.includes(Buffer.from(line).toString('latin1')));
      expect(new Set(taken)).toEqual(new Set(answers));
      if (scan.damage === null && scan.done) expect(taken).toEqual(lines.slice(0, -1));
    }),
    { numRuns: RUNS },
  );
});

it('whatever is damaged, the windows that are taken are the first ones that were written', async () => {
  const journal = await emptyJournal(temporaryFolder());
  const listing = new FakeListing(pageUrls(20), { cap: 4 });
  const walking = new Walking(listing.get);
  const result = await walking.walk();
  const written = new ListingJournal(journal);
  for (const window of walking.windows) await written.accept(window, new Date(NOW));
  await written.finish(result, new Date(NOW), (text) => text);
  written.close();
  const whole = readFileSync(journal.listing);
  await fc.assert(
    fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 3 }), async (damages) => {
      const bytes = damaged(whole, damages);
      writeFileSync(journal.listing, bytes);
      const scan = await scanListing(journal, 4, NOW);
      expect(bytes.subarray(0, scan.bytes)).toEqual(whole.subarray(0, scan.bytes));
      // Nothing that is whole is lost: the first byte that differs lies in the window behind.
      const same = bytes.findIndex((byte, at) => byte !== whole[at]);
      const intact = whole.subarray(0, same < 0 ? bytes.length : same);
      const ends = [...intact.toString('latin1').matchAll(/"crc":"[0-9a-f]{8}"\}\n/g)];
      expect(scan.bytes).toBe(ends.length === 0 ? 0 : (ends.at(-1)?.index ?? 0) + (ends.at(-1)?.[0].length ?? 0));
    }),
    { numRuns: RUNS },
  );
});
