import { z } from 'zod';
import { askRows } from '../../answers/query/ask-rows.js';
import type { Reader } from '../../answers/query/reader.js';
import { ageSentence, dataAge, dataAgeOf } from '../../answers/status/data-age.js';
import { counted } from '../../base/observe/format.js';

const MOST_WEBSITES = 20;

const websiteBasis = z.object({
  website_id: z.string(),
  website_name: z.string().nullable(),
  newest_snapshot: z.object({
    snapshot_id: z.string(),
    date: z.string(),
    begun_at: z.string().describe('UTC.'),
    listing_status: z.string().describe('`partial`: some pages may be missing.'),
  }),
  snapshots: z.number().describe('How many snapshots there are.'),
  first_snapshot_date: z.string(),
  pages: z.number().describe('Pages that are monitored now.'),
  pages_with_report: z.number(),
  not_inspected: z.number().describe('Pages of Search Console that are not inspected yet: nothing is known of them.'),
  report_age_days: z
    .object({ newest: z.number(), median: z.number(), oldest: z.number() })
    .nullable()
    .describe('How old the reports are; null without any.'),
});

/** The snapshots and reports that an answer is based on, in the output of every tool. */
export const basisSchema = z.object({
  age: dataAge.nullable().describe('As of when the answer is; null before the first snapshot.'),
  period: z.string().nullable().describe('The dates that it is about, and the listing that they are compared with.'),
  websites: z.array(websiteBasis).describe('The websites that the answer is about.'),
  more_websites: z.number().describe('Websites that are not named here.'),
});
export type Basis = z.infer<typeof basisSchema>;

/**
 * Reads which snapshots an answer is based on, and how old the reports are.
 *
 * @param website an id; null: all that the reader sees
 * @param now milliseconds since 1970
 * @param period in words
 */
export async function basisOf(
  reader: Reader,
  website: string | null,
  now: number,
  period: string | null = null,
): Promise<Basis> {
  const asked = { website, now: new Date(now).toISOString() };
  const rows = await askRows(reader, 'serve/assistant/basis', websiteBasis, asked, website);
  return {
    age: await dataAgeOf(reader, await reader.newest(website), now),
    period,
    websites: rows.slice(0, MOST_WEBSITES),
    more_websites: Math.max(0, rows.length - MOST_WEBSITES),
  };
}

/** An answer after as of when it is and before its basis, without any text that a website or the service chose. */
export function withBasis(text: string, { age, period, websites, more_websites }: Basis): string {
  const time = age ? `${ageSentence({ ...age, website: null, why: '`basis.age` says of what, and why' })} ` : '';
  if (websites.length === 0) return `${time}${text} There is no snapshot yet.`;
  const snapshots = websites.reduce((sum, website) => sum + website.snapshots, 0);
  const ages = websites.flatMap(({ report_age_days }) => report_age_days ?? []);
  const reports =
    ages.length === 0
      ? 'No page has a report.'
      : `Reports are ${Math.min(...ages.map(({ newest }) => newest))} to ${Math.max(...ages.map(({ oldest }) => oldest))} days old.`;
  const left = websites.reduce((sum, website) => sum + website.not_inspected, 0);
  const unknown = left > 0 ? ` Not inspected yet: ${counted(left, 'page')}.` : '';
  const named = counted(websites.length + more_websites, 'website');
  return `${time}${text}${period ? ` ${period}` : ''} Based on ${counted(snapshots, 'snapshot')} of ${named}. ${reports}${unknown}`;
}
