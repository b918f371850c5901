import { count, duration } from '../../observe/format.js';
import { type Html, html, type Part } from '../../report/html.js';
import type { RejectedRow } from '../../report/rows.js';
import type { RunRow, Runs, RunsQuery } from '../data/runs.js';
import { linkTo, type WebsiteVisit } from '../visit.js';
import { nameOf } from './layout.js';
import { pagingPart, shownOf } from './paging.js';
import { type Column, dataTable } from './table.js';
import { orUnknown, text, time } from './values.js';

const BROKEN_OFF = new Set(['interrupted', 'failed']);
const NUMBERS = (...heads: string[]): Column[] => heads.map((head) => ({ head, isNumber: true }));

/** What each run brought and what it cost, and what of it broke the contract. */
export function runsView(visit: WebsiteVisit, query: RunsQuery, runs: Runs): Html {
  return html`<h1>Runs and quality of ${nameOf(visit.website)}</h1>
<section aria-labelledby="h-runs"><h2 id="h-runs">Runs</h2>
<p id="announcement" class="unseen" role="status"></p>
<div id="results">
${shownOf(query, runs.count, 'run')}
${dataTable({
  id: 'runs',
  caption: 'Runs, the newest first',
  columns: [
    { head: 'Started' },
    { head: 'Listing' },
    ...NUMBERS('Listed', 'Expected', 'Rejected'),
    { head: 'Reports' },
    ...NUMBERS('Fetched', 'Left', 'Missing', 'Failed', 'Requests', 'Throttled', 'Took'),
  ],
  rows: runs.rows.map(cellsOf),
  empty: 'There was no run yet.',
})}
${pagingPart(query, runs.count, (page) => linkTo(visit, 'runs', { per: query.per, page }))}
</div></section>
<section aria-labelledby="h-rejected"><h2 id="h-rejected">Quarantined records</h2>
${rejectedTable(runs)}</section>
<section aria-labelledby="h-drift"><h2 id="h-drift">New in the service’s answers</h2>
${driftTable(runs)}</section>`;
}

function cellsOf(run: RunRow): Part[] {
  const { reports_wanted: wanted, reports_planned: planned } = run;
  return [
    time(run.started_at),
    run.outcome === 'failed' ? failure(run) : standing(run.listing_status, run.listing_status === 'partial'),
    number(run.pages_listed),
    number(run.pages_expected),
    number(sum(run.pages_rejected, run.reports_rejected)),
    standing(run.reports_status, BROKEN_OFF.has(run.reports_status ?? '')),
    number(run.reports_fetched),
    number(wanted === null || planned === null ? null : wanted - planned),
    number(run.reports_missing),
    number(run.reports_failed),
    number(run.requests_sent),
    number(run.requests_throttled),
    duration(run.took_seconds * 1000),
  ];
}

function failure({ error }: RunRow): Html {
  return html`<b class="bad">failed</b>${error === null ? null : html`: ${text(error)}`}`;
}

function standing(status: string | null, isBad: boolean): Part {
  return isBad ? html`<b class="bad">${status}</b>` : orUnknown(status);
}

function number(value: number | null): Part {
  return orUnknown(value === null ? null : count(value));
}

function sum(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : one + other;
}

function rejectedTable({ rejected, since }: Runs): Html {
  const total = rejected[0]?.total ?? 0;
  return dataTable({
    id: 'rejected',
    caption: `Records that broke the contract since ${since}${total > rejected.length ? `: the most frequent ${rejected.length} of ${total} problems` : ''}`,
    columns: [{ head: 'Problem' }, { head: 'Field' }, { head: 'From' }, ...NUMBERS('Records', 'Taken since')],
    rows: rejected.map(({ message, field, source, records, replayed }: RejectedRow) => [
      text(message),
      orUnknown(text(field)),
      source.replaceAll('_', ' '),
      count(records),
      count(replayed),
    ]),
    empty: `No record was quarantined since ${since}.`,
  });
}

function driftTable({ drift }: Runs): Html {
  return dataTable({
    id: 'drift',
    caption: 'What the service did that its contract does not foresee, the newest first',
    columns: [
      { head: 'Field' },
      { head: 'What' },
      { head: 'Value' },
      { head: 'From' },
      { head: 'First seen' },
      ...NUMBERS('Times'),
    ],
    rows: drift.map(({ field, kind, value, source, first_seen, occurrences }) => [
      text(field),
      kind.replaceAll('_', ' '),
      text(value),
      source.replaceAll('_', ' '),
      time(first_seen),
      count(occurrences),
    ]),
    empty: 'Nothing unforeseen was seen.',
  });
}
