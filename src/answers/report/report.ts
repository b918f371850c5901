import { websiteIds } from '../../base/config/websites.js';
import { UsageError } from '../../base/exit.js';
import { grouped } from '../../base/observe/format.js';
import type { Span } from '../html/charts/trend-chart.js';
import { askOf, askRows } from '../query/ask-rows.js';
import type { Reader } from '../query/reader.js';
import { dataAgeOf } from '../status/data-age.js';
import { type Flows, headlineOf, totalOf, type WebsiteFacts } from './headline.js';
import { type Period, periodOf } from './period.js';
import { balanceRow, changesRow, NOT_COMPARED, snapshotRow, trendRow, websiteRow } from './rows.js';
import { readCauses, readMoves, readSection, type Section, searchSentences } from './section.js';
import { caveatsOf, storyOf } from './story.js';

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
 * @throws UsageError for a wrong date or website, and if the warehouse has no snapshot in that period
 */
export async function readReport(reader: Reader, options: ReportOptions) {
  const period = periodOf(options, reader.today);
  const asked = options.website === undefined || reader.isEmpty ? [] : [options.website];
  const [only = null] = websiteIds(asked, await reader.websites(), 'the warehouse');
  const websites = await readWebsites(reader, only, period);
  if (websites.length === 0) throw noSnapshots(reader, period, only);
  await reader.findOwn(only);
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
  const facts = await readWebsites(reader, website, period);
  const moves = await readMoves(reader, facts, period);
  const hasFallen = (moves.headline.fell_out.now ?? 0) > 0;
  const scope = { website, since: period.since, until: period.until };
  const causes = hasFallen ? await readCauses(reader, scope) : { common: [], places: [], moved: [] };
  const sentences = [...storyOf({ ...moves, ...causes }, period), ...searchSentences(moves.search)];
  return { ...moves, period, sentences, caveats: caveatsOf(moves, period) };
}

function noSnapshots({ isEmpty }: Reader, { until }: Period, website: string | null): UsageError {
  const why = isEmpty
    ? ' yet: `indexhouse sync` creates the first one'
    : `${website === null ? '' : ` of ${website}`} up to ${until}: give a later --until`;
  return new UsageError(`the warehouse has no snapshot${why}`);
}

/** What is read once for all websites, or for one: their trend, their snapshots and the headline of each. */
async function readWebsites(reader: Reader, website: string | null, period: Period): Promise<WebsiteFacts[]> {
  const { since, until, previous, shown } = period;
  const all = await askRows(reader, 'answers/report/websites', websiteRow, { since, until }, website);
  const chosen = all.filter(({ website_id }) => website === null || website_id === website);
  const trend = await askOf(reader, 'indexing_trend', trendRow, website, { since: EVER });
  const trendIn = byWebsite(trend.filter(({ snapshot_date }) => snapshot_date <= until));
  const flowsNow = await readFlows(reader, website, { since, until });
  const flowsBefore = await readFlows(reader, website, previous);
  const dates = { website, from: shown.since, until };
  const snapshotsIn = byWebsite(await askRows(reader, 'answers/report/snapshots', snapshotRow, dates));
  return chosen.map((one): WebsiteFacts => {
    const id = one.website_id;
    const [rows, now] = [trendIn(id), flowsNow(id)];
    return {
      website: one,
      trend: rows,
      snapshots: snapshotsIn(id),
      headline: headlineOf(one, rows, { now, before: flowsBefore(id) }, period),
      balance: now.balance,
      canonical_flip_times: now.changes?.canonical_flip_times ?? 0,
    };
  });
}

async function readFlows(
  reader: Reader,
  website: string | null,
  { since, until }: Span,
): Promise<(id: string) => Flows> {
  const dates = { since, until };
  const changes = byWebsite(await askRows(reader, 'answers/report/changes', changesRow, { website, ...dates }));
  const given = { ...dates, total: 'true' };
  const balances = await askOf(reader, 'index_balance', balanceRow.or(NOT_COMPARED), website, given);
  const balance = byWebsite(balances.filter((row) => row.entered !== null));
  return (id) => ({ changes: changes(id)[0], balance: balance(id)[0] });
}

function byWebsite<T extends { website_id: string }>(rows: readonly T[]): (id: string) => T[] {
  const groups = grouped(rows, ({ website_id }) => website_id);
  return (id) => groups.get(id) ?? [];
}
