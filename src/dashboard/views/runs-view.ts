import { type Html, html, type Part } from '../../html/html.js';
import { count, duration } from '../../observe/format.js';
import type { DriftRow, RejectedRow } from '../../report/rows.js';
import { linkTo, type WebsiteContext } from '../context.js';
import type { Runs, RunsQuery, WebsiteRun } from '../data/runs.js';
import { nameOf } from './layout.js';
import { list } from './list.js';
import { type Column, dataTable } from './table.js';
import { orUnknown, text, time } from './values.js';

const BROKEN_OFF = new Set(['interrupted', 'failed']);

const RUN_COLUMNS: readonly Column<WebsiteRun>[] = [
  { id: 'started', head: 'Started', cell: (run) => time(run.started_at) },
  { id: 'listing', head: 'Listing', cell: listing },
  numbers('listed', 'Listed', (run) => run.pages_listed),
  numbers('expected', 'Expected', (run) => run.pages_expected),
  numbers('rejected', 'Rejected', (run) => sum(run.pages_rejected, run.reports_rejected)),
  { id: 'reports', head: 'Reports', cell: reports },
  numbers('fetched', 'Fetched', (run) => run.reports_fetched),
  numbers('left', 'Left', left),
  numbers('missing', 'Missing', (run) => run.reports_missing),
  numbers('failed', 'Failed', (run) => run.reports_failed),
  numbers('requests', 'Requests', (run) => run.requests_sent),
  numbers('throttled', 'Throttled', (run) => run.requests_throttled),
  { id: 'took', head: 'Took', isNumber: true, cell: (run) => duration(run.took_seconds * 1000) },
];

const REJECTED_COLUMNS: readonly Column<RejectedRow>[] = [
  { id: 'problem', head: 'Problem', cell: ({ message }) => text(message) },
  { id: 'field', head: 'Field', cell: ({ field }) => orUnknown(text(field)) },
  { id: 'from', head: 'From', cell: ({ source }) => source.replaceAll('_', ' ') },
  { id: 'records', head: 'Records', isNumber: true, cell: ({ records }) => count(records) },
  { id: 'taken', head: 'Taken since', isNumber: true, cell: ({ replayed }) => count(replayed) },
];

const DRIFT_COLUMNS: readonly Column<DriftRow>[] = [
  { id: 'field', head: 'Field', cell: ({ field }) => text(field) },
  { id: 'what', head: 'What', cell: ({ kind }) => kind.replaceAll('_', ' ') },
  { id: 'value', head: 'Value', cell: ({ value }) => text(value) },
  { id: 'from', head: 'From', cell: ({ source }) => source.replaceAll('_', ' ') },
  { id: 'first_seen', head: 'First seen', cell: ({ first_seen }) => time(first_seen) },
  { id: 'times', head: 'Times', isNumber: true, cell: ({ occurrences }) => count(occurrences) },
];

/** What each run brought and what it cost, and what of it broke the contract. */
export function runsView(context: WebsiteContext, query: RunsQuery, runs: Runs): Html {
  return html`<h1>Runs and quality of ${nameOf(context.website)}</h1>
<section aria-labelledby="h-runs"><h2 id="h-runs">Runs</h2>
${list({
  id: 'runs',
  one: 'run',
  caption: 'Runs, the newest first',
  columns: RUN_COLUMNS,
  rows: runs.rows,
  empty: 'There was no run yet.',
  asked: { window: { ...query, count: runs.count } },
  linkOf: (page) => linkTo(context, 'runs', { per: query.per, page }),
})}</section>
<section aria-labelledby="h-rejected"><h2 id="h-rejected">Quarantined records</h2>
${rejectedTable(runs)}</section>
<section aria-labelledby="h-drift"><h2 id="h-drift">New in the service’s answers</h2>
${driftTable(runs)}</section>`;
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

function numbers(id: string, head: string, counted: (run: WebsiteRun) => number | null): Column<WebsiteRun> {
  const cell = (run: WebsiteRun) => {
    const value = counted(run);
    return orUnknown(value === null ? null : count(value));
  };
  return { id, head, isNumber: true, cell };
}

function left({ reports_wanted: wanted, reports_planned: planned }: WebsiteRun): number | null {
  return wanted === null || planned === null ? null : wanted - planned;
}

function sum(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : one + other;
}

function rejectedTable({ rejected, since }: Runs): Html {
  const total = rejected[0]?.total ?? 0;
  return dataTable({
    id: 'rejected',
    caption: `Records that broke the contract since ${since}${total > rejected.length ? `: the most frequent ${rejected.length} of ${total} problems` : ''}`,
    columns: REJECTED_COLUMNS,
    rows: rejected,
    empty: `No record was quarantined since ${since}.`,
  });
}

function driftTable({ drift }: Runs): Html {
  return dataTable({
    id: 'drift',
    caption: 'What the service did that its contract does not foresee, the newest first',
    columns: DRIFT_COLUMNS,
    rows: drift,
    empty: 'Nothing unforeseen was seen.',
  });
}
