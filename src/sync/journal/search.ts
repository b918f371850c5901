import { z } from 'zod';
import type { SearchDate, Searched, SearchRow } from '../../source/source.js';
import type { JournalFolder } from '../../warehouse/journal/folder.js';
import { JournalError } from '../../warehouse/journal/header.js';
import { readLines } from '../../warehouse/journal/lines.js';
import { openSeal, passOver, seedOf } from '../../warehouse/journal/seal.js';
import { wellFormedJson } from './embed.js';
import { SealedFile } from './sealed-file.js';

/** Rows of one line: DuckDB takes 2,048 lines at once into memory, and an address may be long. */
const ROWS_PER_LINE = 20;

/** A day that was read whole, and the sums of all pages as Google counts them. */
export interface ReadDay extends SearchDate {
  isCut: boolean;
  clicks: number;
  impressions: number;
  rows: readonly SearchRow[];
  /** How many rows Google gave: several may be of one page. */
  rowsRead: number;
}

const rowsLine = z.object({ kind: z.literal('rows') });
const dayLine = z.object({ kind: z.literal('day'), date: z.string(), type: z.string(), rows_read: z.int() });
const searchedLine = z.object({
  kind: z.literal('searched'),
  error: z.string().nullable(),
  remark: z.string().nullable(),
  left: z.int(),
  doubtful: z.int(),
});
const anyLine = z.union([dayLine, searchedLine, rowsLine]);

/** What a journal holds of the days of search analytics: the first `bytes` of its file are intact, with the checksum `crc`. */
export interface SearchLeft {
  bytes: number;
  crc: number;
  /** The days that are whole, as `dayName` names them. */
  days: ReadonlySet<string>;
  entries: number;
  /** How it ended; null if it did not. */
  searched: Pick<Searched, 'error' | 'remark' | 'left' | 'doubtful'> | null;
}

export function dayName({ date, type }: { date: string; type: string }): string {
  return `${date} ${type}`;
}

/** Reads the journal back, without a last day that the process did not finish writing. @throws JournalError if anything else is damaged */
export async function readSearch(folder: JournalFolder): Promise<SearchLeft> {
  const days = new Set<string>();
  const left: SearchLeft = { bytes: 0, crc: seedOf(folder), days, entries: 0, searched: null };
  let running = left.crc;
  for await (const { value, text, end, number } of readLines(folder.search, anyLine)) {
    if (value.kind === 'rows') {
      running = passOver(text, running);
      continue;
    }
    const { isWhole, crc } = openSeal(text, running);
    if (!isWhole) throw new JournalError(`${folder.search} is damaged: line ${number} is not as it was written`);
    running = crc;
    Object.assign(left, { crc, bytes: end });
    if (value.kind === 'searched') left.searched = value;
    else {
      days.add(dayName(value));
      left.entries += value.rows_read;
    }
  }
  return left;
}

/** Writes the journal of search analytics: the rows of a day come before the day's own line, in one write. */
export class SearchJournal {
  readonly #file: SealedFile;
  /** The rows that were read for it. */
  entries: number;

  /** @param left what an interrupted run left; anything after it is cut off */
  constructor(folder: JournalFolder, left: Pick<SearchLeft, 'bytes' | 'crc' | 'entries'>) {
    this.#file = new SealedFile(folder.search, folder, left);
    this.entries = left.entries;
  }

  async day({ rows, isFinal: is_final, isCut: is_cut, rowsRead, ...day }: ReadDay, at: Date): Promise<void> {
    const parts = Array.from({ length: Math.ceil(rows.length / ROWS_PER_LINE) }, (_, part) => {
      const some = rows.slice(part * ROWS_PER_LINE, (part + 1) * ROWS_PER_LINE);
      return `${wellFormedJson({ kind: 'rows', date: day.date, type: day.type, is_final, rows: some })}\n`;
    });
    const head = {
      kind: 'day',
      ...day,
      is_final,
      is_cut,
      pages: rows.length,
      rows_read: rowsRead,
      at: at.toISOString(),
    };
    await this.#file.append(parts.join(''), head);
    this.entries += rowsRead;
  }

  /** Says that a day is not known any more, or not yet, and why. */
  unknown({ why, ...day }: { date: string; type: string; why: string }, at: Date): Promise<void> {
    const head = {
      kind: 'day',
      ...day,
      is_final: true,
      is_cut: false,
      unknown: why,
      rows_read: 0,
      at: at.toISOString(),
    };
    return this.#file.append('', head);
  }

  finish({ error, remark, left, doubtful }: NonNullable<SearchLeft['searched']>): Promise<void> {
    return this.#file.append('', { kind: 'searched', error, remark, left, doubtful });
  }

  close(): void {
    this.#file.close();
  }
}
