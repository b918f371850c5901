import { askOf, askRows } from '../analysis/ask-rows.js';
import { QuestionError } from '../analysis/errors.js';
import type { Reader } from '../analysis/reader.js';
import { noWebsite, websiteList } from '../analysis/websites.js';
import { type Compared, comparedOf, type Headline, headlineOf, totalOf } from './headline.js';
import { type Period, periodOf } from './period.js';
import { changesRow, listingsRow, snapshotRow, trendRow, type WebsiteRow, websiteRow } from './rows.js';
import { readSection, type Section, type WebsiteFacts } from './section.js';

/** Up to this many websites get a section each; more are told together, with a line each. */
const MOST_SECTIONS = 5;

export interface ReportOptions {
  /** Id or name; all websites without it. */
  website?: string | undefined;
  /** Dates in the forms that analyses take. */
  since?: string | undefined;
  until?: string | undefined;
  version: string;
  /** When the report is made, in milliseconds since 1970. */
  now: number;
}

/** Everything that a report tells. Times are ISO 8601 in UTC. */
export interface Report {
  made_at: string;
  version: string;
  period: Period;
  /** The date of the newest snapshot, which may lie behind the period. */
  newest: string;
  total: Headline;
  websites: WebsiteFacts[];
  /** One for each website, or a single one for all of them together. */
  sections: Section[];
}

/**
 * Reads what a report tells from a warehouse.
 *
 * @throws QuestionError for a wrong date or website, and where the warehouse has no snapshot in that time
 */
export async function readReport(reader: Reader, options: ReportOptions): Promise<Report> {
  const period = periodOf(options, reader.today);
  const all = await askRows(reader, 'report/websites', websiteRow, { until: period.until });
  const chosen = options.website === undefined ? all : [websiteOf(all, options.website)];
  if (chosen.length === 0) throw noSnapshots(reader, period);
  const websites = await factsOf(
    reader,
    chosen,
    options.website === undefined ? null : (chosen[0]?.website_id ?? null),
    period,
  );
  const groups = websites.length > MOST_SECTIONS ? [websites] : websites.map((website) => [website]);
  const sections: Section[] = [];
  for (const group of groups) sections.push(await readSection(reader, group, period));
  return {
    made_at: new Date(options.now).toISOString(),
    version: options.version,
    period,
    newest: reader.today,
    total: totalOf(websites.map(({ headline }) => headline)),
    websites,
    sections,
  };
}

function websiteOf(all: readonly WebsiteRow[], given: string): WebsiteRow {
  const byId = all.find(({ website_id }) => website_id === given);
  const found = byId ? [byId] : all.filter(({ website_name }) => website_name === given);
  const [website, second] = found;
  if (website && !second) return website;
  if (!second) throw new QuestionError(noWebsite(given, all));
  const problem = `several websites are called "${given}": give one's id`;
  throw new QuestionError(`${problem}. The warehouse has:\n${websiteList(found)}`);
}

function noSnapshots(reader: Reader, { until }: Period): QuestionError {
  return reader.markers.length === 0
    ? new QuestionError('the warehouse has no snapshot yet: `indexhouse sync` makes the first one')
    : new QuestionError(`the warehouse has no snapshot up to ${until}: give a later --until`);
}

/** What is read once for all websites: their trend, their snapshots and the headline of each. */
async function factsOf(
  reader: Reader,
  chosen: readonly WebsiteRow[],
  website: string | null,
  period: Period,
): Promise<WebsiteFacts[]> {
  const { since, until, previous, shown } = period;
  const listings = await askRows(reader, 'report/listings', listingsRow, { website, since, until });
  const trend = await askOf(reader, 'indexing_trend', trendRow, website);
  const changes = await askRows(reader, 'report/changes', changesRow, { website, since, until });
  const before = await askRows(reader, 'report/changes', changesRow, { website, ...previous });
  const snapshots = await askRows(reader, 'report/snapshots', snapshotRow, { website, from: shown.since, until });
  const of = <T extends { website_id: string }>(rows: readonly T[]) => groupByWebsite(rows);
  const [listingsOf, trendsOf, changesOf, beforeOf, snapshotsOf] = [
    of(listings),
    of(trend.filter(({ snapshot_date }) => snapshot_date <= until)),
    of(changes),
    of(before),
    of(snapshots),
  ];
  return chosen.map((one): WebsiteFacts => {
    const id = one.website_id;
    const listed = listingsOf.get(id)?.[0];
    const compared: Compared | null = listed ? comparedOf(listed, period) : null;
    const rows = trendsOf.get(id) ?? [];
    const headline = headlineOf({
      website: one,
      compared,
      trend: rows,
      changes: changesOf.get(id)?.[0],
      previous: beforeOf.get(id)?.[0],
      period,
    });
    return {
      website: one,
      compared,
      trend: rows,
      snapshots: snapshotsOf.get(id) ?? [],
      headline,
      deindexed_times: changesOf.get(id)?.[0]?.deindexed_times ?? 0,
      canonical_flip_times: changesOf.get(id)?.[0]?.canonical_flip_times ?? 0,
    };
  });
}

function groupByWebsite<T extends { website_id: string }>(rows: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const row of rows) {
    const group = groups.get(row.website_id);
    if (group) group.push(row);
    else groups.set(row.website_id, [row]);
  }
  return groups;
}
