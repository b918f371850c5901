import { websiteIds } from '../../base/config/websites.js';
import { askOf, askRows } from '../query/ask-rows.js';
import { QuestionError } from '../query/errors.js';
import type { Reader } from '../query/reader.js';
import { dataAgeOf } from '../status/data-age.js';
import { headlineOf, totalOf } from './headline.js';
import { type Period, periodOf } from './period.js';
import { changesRow, snapshotRow, trendRow, type WebsiteRow, websiteRow } from './rows.js';
import { readCommon, readMoves, readSection, type Section, type WebsiteFacts } from './section.js';
import { storyOf } from './story.js';

/** Up to this many websites get a section each; more share one, with a line each. */
const MOST_SECTIONS = 5;
const EVER = '0001-01-01';

export interface ReportOptions {
  /** Id or name; by default all websites. */
  website?: string | undefined;
  /** Dates in the forms that analyses take. */
  since?: string | undefined;
  until?: string | undefined;
  version: string;
  /** When the report is created, in milliseconds since 1970. */
  now: number;
}

/** Everything that a report shows. Times are ISO 8601 in UTC. */
export type Report = Awaited<ReturnType<typeof readReport>>;

/**
 * Reads a report from a warehouse.
 *
 * @throws QuestionError for a wrong date or website, and if the warehouse has no snapshot in that period
 */
export async function readReport(reader: Reader, options: ReportOptions) {
  const period = periodOf(options, reader.today);
  const asked = options.website === undefined || reader.isEmpty ? [] : [options.website];
  const [only = null] = websiteIds(asked, await reader.websites(), 'the warehouse');
  const dates = { since: period.since, until: period.until };
  const all = await askRows(reader, 'answers/report/websites', websiteRow, dates, only);
  const chosen = all.filter(({ website_id }) => only === null || website_id === only);
  if (chosen.length === 0) throw noSnapshots(reader, period, only);
  const websites = await factsOf(reader, chosen, only, period);
  const groups = websites.length > MOST_SECTIONS ? [websites] : websites.map((website) => [website]);
  const sections: Section[] = [];
  for (const group of groups) sections.push(await readSection(reader, group, period));
  return {
    made_at: new Date(options.now).toISOString(),
    version: options.version,
    age: await dataAgeOf(reader, await reader.newest(only), options.now),
    period,
    /** The date of the newest snapshot, which may be after the period. */
    newest: reader.today,
    total: totalOf(websites.map(({ headline }) => headline)),
    websites,
    /** One for each website, or a single one for all of them together. */
    sections,
  };
}

/** What happened to one website in a period: the first part of its report. */
export async function readStory(reader: Reader, website: string, given: { since: string; until: string }) {
  const period = periodOf(given, reader.today);
  const dates = { since: period.since, until: period.until };
  const all = await askRows(reader, 'answers/report/websites', websiteRow, dates, website);
  const facts = await factsOf(
    reader,
    all.filter(({ website_id }) => website_id === website),
    website,
    period,
  );
  const moves = await readMoves(reader, facts, period);
  const hasFallen = moves.headline.fell_out.now > 0;
  const common = hasFallen ? await readCommon({ reader, website, since: period.since, until: period.until }) : [];
  return { ...moves, period, sentences: storyOf({ ...moves, common }, period) };
}

function noSnapshots(reader: Reader, { until }: Period, website: string | null): QuestionError {
  return reader.isEmpty
    ? new QuestionError('the warehouse has no snapshot yet: `indexhouse sync` creates the first one')
    : new QuestionError(
        `the warehouse has no snapshot${website === null ? '' : ` of ${website}`} up to ${until}: give a later --until`,
      );
}

/** What is read once for all websites: their trend, their snapshots and the headline of each. */
async function factsOf(
  reader: Reader,
  chosen: readonly WebsiteRow[],
  website: string | null,
  period: Period,
): Promise<WebsiteFacts[]> {
  const { since, until, previous, shown } = period;
  const trend = await askOf(reader, 'indexing_trend', trendRow, website, { since: EVER });
  const trendIn = byWebsite(trend.filter(({ snapshot_date }) => snapshot_date <= until));
  const changesIn = byWebsite(await askRows(reader, 'answers/report/changes', changesRow, { website, since, until }));
  const changesBefore = byWebsite(
    await askRows(reader, 'answers/report/changes', changesRow, { website, ...previous }),
  );
  const dates = { website, from: shown.since, until };
  const snapshotsIn = byWebsite(await askRows(reader, 'answers/report/snapshots', snapshotRow, dates));
  return chosen.map((one): WebsiteFacts => {
    const id = one.website_id;
    const [[changes], [before], rows] = [changesIn(id), changesBefore(id), trendIn(id)];
    return {
      website: one,
      trend: rows,
      snapshots: snapshotsIn(id),
      headline: headlineOf({ website: one, trend: rows, changes, previous: before, period }),
      canonical_flip_times: changes?.canonical_flip_times ?? 0,
    };
  });
}

/** Groups rows by website, in their order. */
function byWebsite<T extends { website_id: string }>(rows: readonly T[]): (id: string) => T[] {
  const groups = new Map<string, T[]>();
  for (const row of rows) {
    const group = groups.get(row.website_id);
    if (group) group.push(row);
    else groups.set(row.website_id, [row]);
  }
  return (id) => groups.get(id) ?? [];
}
