import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { JournalError, readHeader } from '../../../src/warehouse/journal/header.js';
import { readListing } from '../../../src/warehouse/journal/listing.js';
import { readReports } from '../../../src/warehouse/journal/reports.js';
import { atLength } from '../../given/at-length.js';
import { temporaryFolder } from '../../given/folder.js';
import { emptyJournal, NOW, writeListing, writeReports } from './given.js';

const RUNS = atLength(80, 300);
/** A window's entries come before its own line, which seals them. */
const END_LINES = 6;

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

/** The lines that are read from a damaged file are the first ones as they were written; else the journal is damaged. */
async function readsTheBeginning(file: string, read: () => Promise<{ bytes: number; isEnded: boolean }>) {
  const whole = readFileSync(file);
  await fc.assert(
    fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 3 }), async (damages) => {
      const bytes = damaged(whole, damages);
      writeFileSync(file, bytes);
      const left = await read().catch((error: unknown) => {
        if (error instanceof JournalError) return null;
        throw error;
      });
      if (left === null) return;
      expect(bytes.subarray(0, left.bytes)).toEqual(whole.subarray(0, left.bytes));
      if (left.isEnded) expect(bytes).toEqual(whole);
      // Only the last line may be lost without an error.
      expect(bytes.subarray(left.bytes, -1).filter((byte) => byte === 0x0a).length).toBeLessThan(END_LINES);
    }),
    { numRuns: RUNS },
  );
}

it('whatever is damaged in the reports, nothing is read that was not written', async () => {
  const journal = await emptyJournal(temporaryFolder());
  await writeReports(journal, 12);
  await readsTheBeginning(journal.reports, async () => {
    const { bytes, done } = await readReports(journal);
    return { bytes, isEnded: done !== null };
  });
  writeFileSync(journal.reports, '');
  truncateSync(journal.reports, 600e6);
  await expect(readReports(journal)).rejects.toThrow(/^\S+reports.ndjson has a line of more than 32 MB$/);
  writeFileSync(journal.header, '');
  truncateSync(journal.header, 3e9);
  await expect(readHeader(journal)).rejects.toThrow(/^\S+run.json is damaged$/);
});

it('whatever is damaged in the listing, nothing is read that was not written', async () => {
  const journal = await emptyJournal(temporaryFolder());
  await writeListing(journal, { pages: 20, cap: 4 });
  await readsTheBeginning(journal.listing, async () => {
    const { bytes, kind } = await readListing(journal, NOW);
    return { bytes, isEnded: kind === 'listed' };
  });
});
