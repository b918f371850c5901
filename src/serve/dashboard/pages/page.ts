import { z } from 'zod';
import { orUnknown, text, time, UNKNOWN } from '../../../answers/html/cells.js';
import { legend } from '../../../answers/html/charts/draw.js';
import { type Html, html, type Part, pageLink } from '../../../answers/html/html.js';
import { askRows } from '../../../answers/query/ask-rows.js';
import type { Reader } from '../../../answers/query/reader.js';
import { MOST_URL_CHARACTERS } from '../../../base/config/page-filters.js';
import { counted } from '../../../base/observe/format.js';
import { DAY_MS } from '../../../base/time.js';
import { ServiceError } from '../../api/errors.js';
import type { ServedWebsite } from '../../store/live-reader.js';
import { type Content, linkTo, shownName, type WebsiteContext } from '../layout.js';
import { list } from '../list.js';
import { pagingQuery, readQuery } from '../query.js';
import { age } from '../values.js';
import { askChanges, type ChangeRow, indexChange, otherChanges } from './changes.js';

const HEADING_CHARACTERS = 120;
const EVERY_NIGHT = { from: null, to: null, url_contains: null, directory: null };

const pageQuery = z.object({
  ...pagingQuery,
  kind: z.literal('all').optional(),
  url: z.string().max(MOST_URL_CHARACTERS),
});

const maybeText = z.string().nullable();

/** A column of the page's listing or report, what it is called, and how its value is shown. */
type Fact = readonly [column: string, name: string, show: (value: string | null, since: string | null) => Part];

const LISTING: readonly Fact[] = [
  ['listed_at', 'Listed', time],
  ['first_seen_at', 'First seen', time],
  ['last_seen_at', 'Last seen', time],
  ['index_summary', 'Index summary', orUnknown],
  ['index_coverage_state', 'Coverage state', text],
  ['searchengine_selected_canonical', 'Canonical (search engine)', address],
  ['user_selected_canonical', 'Canonical (declared)', address],
  ['canonicals', 'Canonicals', canonicals],
  ['last_crawl_time', 'Last crawl', time],
];

const REPORT: readonly Fact[] = [
  ['reason', 'Fetched because', text],
  ['index_summary', 'Index summary', orUnknown],
  ['index_coverage_state', 'Coverage state', text],
  ['indexing_allowed', 'Indexing allowed', text],
  ['blocked_by_robots_txt', 'Blocked by robots.txt', text],
  ['ever_blocked_by_robots_txt', 'Ever blocked by robots.txt', since],
  ['page_fetch_status', 'Page fetch', text],
  ['searchenginebot_primary_crawler', 'Crawler', text],
  ['last_crawl_time', 'Last crawl', time],
  ['searchengine_selected_canonical', 'Canonical (search engine)', address],
  ['user_selected_canonical', 'Canonical (declared)', address],
  ['canonical_changed', 'Canonical changed', since],
  ['previously_indexed', 'Previously indexed', since],
  ['inspection_date', 'Inspected', time],
  ['page_detection', 'Detected', time],
  ['inspection_link', 'Inspection', address],
  ['service_link', 'Service', address],
];

/** The columns used directly; the others are read by name from the lists above. */
const factsRow = z.looseObject({
  url: z.string(),
  report_snapshot_id: maybeText,
  absences: z.int(),
  consecutive_failures: z.int(),
  last_failure_at: maybeText,
  disappeared_at: maybeText,
});
const reportRow = z.looseObject({ fetched_at: z.string(), sitemaps: z.array(z.string()).nullable() });

/** What the analysis `page` says: its sentences about the page now, the one about the index first. */
const sentenceRow = z.object({ topic: z.string(), sentence: z.string() });
const spanRow = z.object({
  since: z.string(),
  until: z.string(),
  status: z.enum(['indexed', 'not_indexed', 'no_data', 'data_lost', 'not_inspected', 'gone', 'retired']),
});
type Span = z.infer<typeof spanRow>;

const STATUSES: Readonly<Record<Span['status'], string>> = {
  indexed: 'indexed',
  not_indexed: 'not indexed',
  no_data: 'no data',
  data_lost: 'data lost',
  not_inspected: 'not inspected',
  gone: 'no longer listed',
  retired: 'retired: not named for a long time',
};

/** Everything known about one page: what it is now, what happened to it, its newest listing and report. */
export async function pagePage(context: WebsiteContext): Promise<Content> {
  const query = readQuery(pageQuery, context.query);
  const { facts, report, changes, sentences, spans } = await context.ask((reader) =>
    readPage(reader, context.website.id, query),
  );
  const [first, ...others] = sentences;
  const linkOf = (kind: string | undefined, page?: number) =>
    linkTo(context, 'page', { url: facts.url, kind, per: page && query.per, page });
  const content = html`<p class="lead">${first?.sentence}</p>
${standing(facts)}
<ul class="said">${others.map(({ sentence }) => html`<li>${sentence}</li>\n`)}</ul>
<section aria-labelledby="h-changes"><h2 id="h-changes">What happened</h2>
${band(spans)}
${list<ChangeRow>({
  id: 'changes',
  one: 'night',
  caption: 'What changed about this page, newest first',
  columns: [],
  show: timeline,
  empty: 'No changes since this page was first seen.',
  query,
  ...changes,
  linkOf: (page) => linkOf(query.kind, page),
})}
<p><a href="${linkOf(query.kind ? undefined : 'all')}">${query.kind ? 'Without crawls and first reports' : 'Also crawls and first reports'}</a></p></section>
<div class="beside">
<section aria-labelledby="h-listing"><h2 id="h-listing">Newest listing</h2>
${definitions(factValues(facts, LISTING))}</section>
<section aria-labelledby="h-report"><h2 id="h-report">Newest report</h2>
${report ? reportPart(report, context.website) : html`<p class="empty">No report of this page is stored.</p>`}</section>
</div>`;
  const heading = pageLink(facts.url, HEADING_CHARACTERS);
  return { title: `A page of ${shownName(context.website)}`, heading, content };
}

/** What is known of one page. @throws ServiceError 404 for an unknown one, and for a window after the last change */
async function readPage(reader: Reader, website: string, query: z.infer<typeof pageQuery>) {
  const { url } = query;
  const [facts] = await askRows(reader, 'serve/dashboard/page', factsRow, { website, url });
  if (!facts) throw new ServiceError(404, 'This website has never listed this page.');
  const asked = { website, url, snapshot: facts.report_snapshot_id };
  // None if none was fetched or kept.
  const [report] = await askRows(reader, 'serve/dashboard/page_report', reportRow, asked);
  const said = await askRows(reader, 'answers/analyses/page', sentenceRow, { website, url });
  return {
    facts,
    report,
    sentences: said.filter(({ topic }) => topic !== 'history'),
    spans: await askRows(reader, 'serve/dashboard/page_spans', spanRow, { website, url }),
    changes: await askChanges(reader, { ...EVERY_NIGHT, website, url, kind: query.kind ?? null }, query),
  };
}

/** A band that shows what was known of the page since it was first seen, with a legend. */
function band(spans: readonly Span[]): Part {
  const [first, last] = [spans[0], spans.at(-1)];
  if (!first || !last) return null;
  const whole = daysIn(first.since, last.until);
  const said = spans.map(({ since, status }) => `${STATUSES[status]} since ${since}`).join(', ');
  const parts = spans.map(({ since, until, status }) => {
    const [x, width] = [daysIn(first.since, since) - 1, daysIn(since, until)];
    return html`<rect class="${classOf(status)}" x="${x}" width="${Math.min(width, whole - x)}" height="1"><title>${STATUSES[status]} since ${since}</title></rect>`;
  });
  const statuses = [...new Set(spans.map(({ status }) => status))];
  return html`${legend(...statuses.map((status) => [classOf(status), STATUSES[status]] as const))}
<svg class="band" viewBox="0 0 ${whole} 1" preserveAspectRatio="none" role="img" aria-label="${said}">${parts}</svg>
<p class="ends"><span>${first.since}</span><span>${last.until}</span></p>`;
}

function classOf(status: Span['status']): string {
  return status.replaceAll('_', '-');
}

/** Both ends included. */
function daysIn(since: string, until: string): number {
  return Math.round((Date.parse(until) - Date.parse(since)) / DAY_MS) + 1;
}

function timeline(rows: readonly ChangeRow[]): Html {
  const items = rows.map((row) => {
    const { snapshot_date, index_change, is_loss, other_changes } = row;
    const kind = index_change === null ? 'aside' : is_loss ? 'loss' : 'gain';
    return html`<li class="${kind}"><time class="date" datetime="${snapshot_date}">${snapshot_date}</time>
<div>${index_change === null ? null : html`<p>${indexChange(row)}</p>`}${other_changes && html`<p>${otherChanges(other_changes)}</p>`}</div></li>\n`;
  });
  return html`<ol class="timeline">
${items}</ol>`;
}

function canonicals(compared: string | null): Part {
  if (compared === 'undeclared') return 'none declared';
  return compared === 'differ' ? html`<b class="bad">differ</b>` : orUnknown(compared);
}

/** Warnings about the page, shown above the rest. */
function standing({ disappeared_at, absences, consecutive_failures, last_failure_at }: z.infer<typeof factsRow>): Part {
  const warnings: Part[] = [];
  if (disappeared_at !== null) warnings.push(html`No longer monitored since ${time(disappeared_at)}.`);
  else if (absences > 0) warnings.push(`Missing from the last ${counted(absences, 'complete listing')}.`);
  if (consecutive_failures > 0) {
    const times = counted(consecutive_failures, 'time');
    warnings.push(html`Its report could not be fetched ${times} in a row, last ${time(last_failure_at)}.`);
  }
  return warnings.map((warning) => html`<p class="warning">${warning}</p>\n`);
}

function reportPart(report: z.infer<typeof reportRow>, website: ServedWebsite): Html {
  const { fetched_at: fetched } = report;
  return definitions([
    ['Fetched', html`${time(fetched)} (${age(fetched, website)})`],
    ...factValues(report, REPORT),
    ['Sitemaps', sitemaps(report.sitemaps)],
  ]);
}

function factValues(row: Readonly<Record<string, unknown>>, facts: readonly Fact[]): [name: string, value: Part][] {
  const textIn = (column: string) => maybeText.parse(row[column]);
  return facts.map(([column, name, show]) => {
    const since = `${column}_timestamp`;
    return [name, show(textIn(column), since in row ? textIn(since) : null)];
  });
}

function definitions(entries: readonly (readonly [string, Part])[]): Html {
  return html`<dl class="facts">${entries.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`)}</dl>`;
}

function address(url: string | null): Part {
  return url === null ? UNKNOWN : pageLink(url);
}

function since(value: string | null, at: string | null): Part {
  return at === null ? text(value) : html`${text(value)}, ${time(at)}`;
}

function sitemaps(urls: readonly string[] | null): Part {
  if (urls === null || urls.length === 0) return UNKNOWN;
  return html`<ul>${urls.map((url) => html`<li>${pageLink(url)}</li>`)}</ul>`;
}
