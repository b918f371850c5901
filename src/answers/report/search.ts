import { z } from 'zod';
import { askRows } from '../query/ask-rows.js';
import type { Reader } from '../query/reader.js';

const weekRow = z.object({ starts_on: z.string(), pages: z.int(), is_cut: z.boolean() });
const lostRow = z.object({
  directory: z.string(),
  pages: z.int(),
  first_shown_last: z.string(),
  last_shown: z.string(),
  clicks: z.int(),
});
const evidenceRow = z.object({
  indexed: z.int(),
  not_indexed: z.int(),
  seen: z.int(),
  unknown: z.int(),
  contradicted: z.int(),
});

/** A directory that search shows fewer pages of. */
export type LostRow = z.infer<typeof lostRow>;

/** What search shows of a property; null without any day of search analytics. */
export async function readSearch(reader: Reader, website: string, until: string) {
  const weeks = await askRows(reader, 'answers/report/search_weeks', weekRow, { website, until }, website);
  if (weeks.length === 0) return null;
  return {
    weeks,
    lost: await askRows(reader, 'answers/report/search_lost_places', lostRow, { website, until }, website),
    evidence: (await askRows(reader, 'answers/report/evidence', evidenceRow, { website }, website))[0] ?? null,
  };
}
