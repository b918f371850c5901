import { z } from 'zod';
import { text, time } from '../../../answers/html/cells.js';
import { type Column, html, type Part, table } from '../../../answers/html/html.js';
import { askOf, askRows } from '../../../answers/query/ask-rows.js';
import type { Reader } from '../../../answers/query/reader.js';
import { command, cutNote } from '../../../answers/report/parts/part.js';
import {
  DRIFT_COLUMNS,
  listingStatus,
  REJECTED_COLUMNS,
  reportAges,
  runColumns,
  SOURCE_COLUMNS,
} from '../../../answers/report/parts/quality.js';
import { driftRow, type RunRow, rejectedRow, reportAgeRow, runRow, sourceRow } from '../../../answers/report/rows.js';
import { ServiceError } from '../../api/errors.js';
import { type Content, linkTo, shownName, type WebsiteContext } from '../layout.js';
import { list } from '../list.js';
import { type Paging, pagingQuery, readQuery, skipOf } from '../query.js';
import { newestDates } from './changes.js';

const NIGHTS_LOOKED_AT = 30;
const ODDITIES_LISTED = 50;
const SOURCES_LISTED = 100;

const RUN_COLUMNS: readonly Column<RunRow>[] = [
  { head: 'Started', cell: (run) => time(run.started_at) },
  ...runColumns<RunRow>((run) => (run.outcome === 'failed' ? failure(run) : listingStatus(run))),
];

/** What each run fetched, what it cost, and what broke the contract. */
export async function runsPage(context: WebsiteContext): Promise<Content> {
  const query = readQuery(z.object(pagingQuery), context.query);
  const runs = await context.ask((reader) => readRuns(reader, context.website.id, query));
  const content = html`<section aria-labelledby="h-runs"><h2 id="h-runs">Runs</h2>
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
<section aria-labelledby="h-age"><h2 id="h-age">Age of the reports</h2>
${reportAges('ages', runs.ages)}</section>
<section aria-labelledby="h-rejected"><h2 id="h-rejected">Quarantined records</h2>
${rejectedTable(runs)}</section>
${sourcesSection(runs)}
<section aria-labelledby="h-drift"><h2 id="h-drift">New in the service’s answers</h2>
${table(DRIFT_COLUMNS, runs.drift, {
  id: 'drift',
  caption: 'What the service sent that its contract does not foresee, newest first',
  empty: 'Nothing so far.',
})}</section>`;
  return { title: `Runs and quality of ${shownName(context.website)}`, content };
}

/** A window of a website's runs, and the quality of their data. @throws ServiceError 404 */
async function readRuns(reader: Reader, website: string, query: Paging) {
  const rows = await askRows(reader, 'serve/dashboard/runs', runRow, {
    website,
    limit: query.per,
    skip: skipOf(query),
  });
  const count = rows[0]?.runs ?? 0;
  if (count === 0 && query.page > 1) throw new ServiceError(404, `There is no page ${query.page}.`);
  const dates = newestDates(reader.markers, website, NIGHTS_LOOKED_AT);
  const [since, until] = [dates.at(-1) ?? reader.today, dates[0] ?? reader.today];
  const period = { website, since, until, limit: ODDITIES_LISTED };
  // Quarantined records and drift in the period of these runs, newest first.
  const rejected = await askRows(reader, 'answers/report/rejected', rejectedRow, period);
  const drift = await askOf(reader, 'drift_diary', driftRow, website, { limit: String(ODDITIES_LISTED) });
  const ages = await askOf(reader, 'report_ages', reportAgeRow, website);
  const sources = await askOf(reader, 'sources', sourceRow, website);
  return {
    count,
    rows,
    since,
    ages,
    rejected,
    drift,
    sources,
  };
}

function failure({ error }: RunRow): Part {
  return html`<b class="bad">failed</b>${error === null ? null : html`: ${text(error)}`}`;
}

/** What named the pages in the newest snapshot; nothing of a website of the service, which lists them itself. */
function sourcesSection({ sources }: Awaited<ReturnType<typeof readRuns>>): Part {
  if (sources.length === 0) return null;
  const caption = 'What names the pages, in the newest snapshot; problems first';
  return html`<section aria-labelledby="h-sources"><h2 id="h-sources">Where the pages come from</h2>
${table(SOURCE_COLUMNS, sources.slice(0, SOURCES_LISTED), { id: 'sources', caption, empty: '' })}
${cutNote('first', Math.min(sources.length, SOURCES_LISTED), sources.length, command('sources', {}))}</section>`;
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
