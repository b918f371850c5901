import { z } from 'zod';
import { askOf, askRows } from '../../analysis/ask-rows.js';
import type { Reader } from '../../analysis/reader.js';
import { text, time } from '../../html/cells.js';
import { html, type Part } from '../../html/html.js';
import { type Column, table } from '../../html/table.js';
import { DRIFT_COLUMNS, listingStatus, REJECTED_COLUMNS, runColumns } from '../../report/parts/quality.js';
import { driftRow, type RunRow, rejectedRow, runRow } from '../../report/rows.js';
import { ServiceError } from '../../service/errors.js';
import { type Content, linkTo, type WebsiteContext } from '../context.js';
import { nameOf } from '../layout.js';
import { list } from '../list.js';
import { type Paging, pagingQuery, readQuery, skipOf } from '../query.js';
import { newestDates } from './changes.js';

const NIGHTS_LOOKED_AT = 30;
const ODDITIES_LISTED = 50;
/** An id that is another website's name gives that one's rows too, which are then left out. */
const DRIFT_READ = 500;

const RUN_COLUMNS: readonly Column<RunRow>[] = [
  { head: 'Started', cell: (run) => time(run.started_at) },
  ...runColumns<RunRow>((run) => (run.outcome === 'failed' ? failure(run) : listingStatus(run))),
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
  caption: 'Runs, newest first',
  columns: RUN_COLUMNS,
  empty: 'No runs yet.',
  query,
  ...runs,
  linkOf: (page) => linkTo(context, 'runs', { per: query.per, page }),
})}</section>
<section aria-labelledby="h-rejected"><h2 id="h-rejected">Quarantined records</h2>
${rejectedTable(runs)}</section>
<section aria-labelledby="h-drift"><h2 id="h-drift">New in the service’s answers</h2>
${table(DRIFT_COLUMNS, runs.drift, {
  id: 'drift',
  caption: 'What the service sent that its contract does not foresee, newest first',
  empty: 'Nothing so far.',
})}</section>`;
  return { title: `Runs of ${name}`, content };
}

/** The runs of a website, a window of them, and the quality of what they brought. @throws ServiceError 404 */
async function readRuns(reader: Reader, website: string, query: Paging) {
  const rows = await askRows(reader, 'dashboard/runs', runRow, { website, limit: query.per, skip: skipOf(query) });
  const count = rows[0]?.runs ?? 0;
  if (count === 0 && query.page > 1) throw new ServiceError(404, `There is no page ${query.page}.`);
  const dates = newestDates(reader.markers, website, NIGHTS_LOOKED_AT);
  const [since, until] = [dates.at(-1) ?? reader.today, dates[0] ?? reader.today];
  const period = { website, since, until, limit: ODDITIES_LISTED };
  const rejected = await askRows(reader, 'report/rejected', rejectedRow, period);
  const drift = await askOf(reader, 'drift_diary', driftRow, website, { limit: String(DRIFT_READ) });
  // What was quarantined since then, and what the service sent that its contract does not foresee, the newest first.
  return { count, rows, since, rejected, drift: drift.slice(0, ODDITIES_LISTED) };
}

function failure({ error }: RunRow): Part {
  return html`<b class="bad">failed</b>${error === null ? null : html`: ${text(error)}`}`;
}

function rejectedTable({ rejected, since }: Awaited<ReturnType<typeof readRuns>>): Part {
  const total = rejected[0]?.total ?? 0;
  const cut = total > rejected.length ? `: the most frequent ${rejected.length} of ${total} problems` : '';
  return table(REJECTED_COLUMNS, rejected, {
    id: 'rejected',
    caption: `Records that broke the contract since ${since}${cut}`,
    empty: `No record was quarantined since ${since}.`,
  });
}
