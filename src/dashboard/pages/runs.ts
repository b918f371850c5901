import { z } from 'zod';
import { askOf, askRows } from '../../analysis/ask-rows.js';
import type { Reader } from '../../analysis/reader.js';
import { type Html, html, type Part } from '../../html/html.js';
import { type Column, table } from '../../html/table.js';
import { count, duration } from '../../observe/format.js';
import { type DriftRow, driftRow, type RejectedRow, rejectedRow } from '../../report/rows.js';
import { type Content, linkTo, type WebsiteContext } from '../context.js';
import { nameOf } from '../layout.js';
import { list } from '../list.js';
import { checkPage, type Paging, pagingQuery, readQuery, skipOf } from '../query.js';
import { orUnknown, text, time } from '../values.js';
import { newestDates } from './changes.js';

const NIGHTS_LOOKED_AT = 30;
const ODDITIES_LISTED = 50;
/** An id that is another website's name gives that one's rows too, which are then left out. */
const DRIFT_READ = 500;

const maybeWhole = z.int().nullable();
const maybeText = z.string().nullable();

const runRow = z.object({
  started_at: z.string(),
  took_seconds: z.number(),
  outcome: z.string(),
  error: maybeText,
  listing_status: maybeText,
  pages_expected: maybeWhole,
  pages_listed: maybeWhole,
  pages_rejected: maybeWhole,
  reports_status: maybeText,
  reports_planned: maybeWhole,
  reports_wanted: maybeWhole,
  reports_fetched: maybeWhole,
  reports_missing: maybeWhole,
  reports_failed: maybeWhole,
  reports_rejected: maybeWhole,
  requests_sent: maybeWhole,
  requests_throttled: maybeWhole,
});
type WebsiteRun = z.infer<typeof runRow>;
const countRow = z.object({ runs: z.int() });

interface Runs {
  count: number;
  rows: WebsiteRun[];
  /** What was quarantined since then, by what is wrong with it. */
  since: string;
  rejected: RejectedRow[];
  /** What the service did that its contract does not foresee, the newest first. */
  drift: DriftRow[];
}

const BROKEN_OFF = new Set(['interrupted', 'failed']);

const RUN_COLUMNS: readonly Column<WebsiteRun>[] = [
  { head: 'Started', cell: (run) => time(run.started_at) },
  { head: 'Listing', cell: listing },
  numbers('Listed', (run) => run.pages_listed),
  numbers('Expected', (run) => run.pages_expected),
  numbers('Rejected', (run) => sum(run.pages_rejected, run.reports_rejected)),
  { head: 'Reports', cell: reports },
  numbers('Fetched', (run) => run.reports_fetched),
  numbers('Left', left),
  numbers('Missing', (run) => run.reports_missing),
  numbers('Failed', (run) => run.reports_failed),
  numbers('Requests', (run) => run.requests_sent),
  numbers('Throttled', (run) => run.requests_throttled),
  { head: 'Took', isNumber: true, cell: (run) => duration(run.took_seconds * 1000) },
];

const REJECTED_COLUMNS: readonly Column<RejectedRow>[] = [
  { head: 'Problem', cell: ({ message }) => text(message) },
  { head: 'Field', cell: ({ field }) => orUnknown(text(field)) },
  { head: 'From', cell: ({ source }) => source.replaceAll('_', ' ') },
  { head: 'Records', isNumber: true, cell: ({ records }) => count(records) },
  { head: 'Taken since', isNumber: true, cell: ({ replayed }) => count(replayed) },
];

const DRIFT_COLUMNS: readonly Column<DriftRow>[] = [
  { head: 'Field', cell: ({ field }) => text(field) },
  { head: 'What', cell: ({ kind }) => kind.replaceAll('_', ' ') },
  { head: 'Value', cell: ({ value }) => text(value) },
  { head: 'From', cell: ({ source }) => source.replaceAll('_', ' ') },
  { head: 'First seen', cell: ({ first_seen }) => time(first_seen) },
  { head: 'Times', isNumber: true, cell: ({ occurrences }) => count(occurrences) },
];

/** What each run brought and what it cost, and what of it broke the contract. */
export async function runsPage(context: WebsiteContext): Promise<Content> {
  const query = readQuery(z.object(pagingQuery), context.query);
  const runs = await context.ask((reader) => readRuns(reader, context.website.id, query));
  const name = nameOf(context.website);
  const content = html`<h1>Runs and quality of ${name}</h1>
<section aria-labelledby="h-runs"><h2 id="h-runs">Runs</h2>
${list({
  id: 'runs',
  one: 'run',
  caption: 'Runs, the newest first',
  columns: RUN_COLUMNS,
  empty: 'There was no run yet.',
  query,
  ...runs,
  linkOf: (page) => linkTo(context, 'runs', { per: query.per, page }),
})}</section>
<section aria-labelledby="h-rejected"><h2 id="h-rejected">Quarantined records</h2>
${rejectedTable(runs)}</section>
<section aria-labelledby="h-drift"><h2 id="h-drift">New in the service’s answers</h2>
${table(DRIFT_COLUMNS, runs.drift, {
  id: 'drift',
  caption: 'What the service did that its contract does not foresee, the newest first',
  empty: 'Nothing unforeseen was seen.',
})}</section>`;
  return { title: `Runs of ${name}`, content };
}

/** The runs of a website, a window of them, and the quality of what they brought. @throws ServiceError 404 */
async function readRuns(reader: Reader, website: string, query: Paging): Promise<Runs> {
  const [counted] = await askRows(reader, 'dashboard/runs_counted', countRow, { website });
  const count = counted?.runs ?? 0;
  checkPage(query, count);
  const rows = await askRows(reader, 'dashboard/runs', runRow, { website, limit: query.per, skip: skipOf(query) });
  const dates = newestDates(reader.markers, website, NIGHTS_LOOKED_AT);
  const since = dates.at(-1) ?? reader.today;
  const rejected = await askRows(reader, 'report/rejected', rejectedRow, {
    website,
    since,
    until: dates[0] ?? reader.today,
    limit: ODDITIES_LISTED,
  });
  const drift = await askOf(reader, 'drift_diary', driftRow, website, { limit: String(DRIFT_READ) });
  return { count, rows, since, rejected, drift: drift.slice(0, ODDITIES_LISTED) };
}

function listing(run: WebsiteRun): Part {
  return run.outcome === 'failed' ? failure(run) : standing(run.listing_status, run.listing_status === 'partial');
}

function failure({ error }: WebsiteRun): Html {
  return html`<b class="bad">failed</b>${error === null ? null : html`: ${text(error)}`}`;
}

function standing(status: string | null, isBad: boolean): Part {
  return isBad ? html`<b class="bad">${status}</b>` : orUnknown(status);
}

function reports({ reports_status }: WebsiteRun): Part {
  return standing(reports_status, BROKEN_OFF.has(reports_status ?? ''));
}

function numbers(head: string, counted: (run: WebsiteRun) => number | null): Column<WebsiteRun> {
  const cell = (run: WebsiteRun) => {
    const value = counted(run);
    return orUnknown(value === null ? null : count(value));
  };
  return { head, isNumber: true, cell };
}

function left({ reports_wanted: wanted, reports_planned: planned }: WebsiteRun): number | null {
  return wanted === null || planned === null ? null : wanted - planned;
}

function sum(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : one + other;
}

function rejectedTable({ rejected, since }: Runs): Part {
  const total = rejected[0]?.total ?? 0;
  const cut = total > rejected.length ? `: the most frequent ${rejected.length} of ${total} problems` : '';
  return table(REJECTED_COLUMNS, rejected, {
    id: 'rejected',
    caption: `Records that broke the contract since ${since}${cut}`,
    empty: `No record was quarantined since ${since}.`,
  });
}
