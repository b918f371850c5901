import { z } from 'zod';
import { askRows } from '../../analysis/ask-rows.js';
import type { Reader } from '../../analysis/reader.js';
import { counted } from '../../html/figures.js';
import { type Html, html, type Part, pageLink, shortened } from '../../html/html.js';
import { ServiceError } from '../../service/errors.js';
import { type Content, linkTo, type WebsiteContext } from '../context.js';
import { nameOf } from '../layout.js';
import { list } from '../list.js';
import { MOST_URL_CHARACTERS, pagingQuery, readQuery } from '../query.js';
import { age, orUnknown, text, time, UNKNOWN } from '../values.js';
import { CHANGE_COLUMNS, readChangesOf } from './changes.js';

const HEADING_CHARACTERS = 120;

const pageQuery = z.object({ ...pagingQuery, url: z.string().max(MOST_URL_CHARACTERS) });

const maybeText = z.string().nullable();

const factsRow = z.object({
  url: z.string(),
  first_seen_at: maybeText,
  last_seen_at: maybeText,
  listed_at: maybeText,
  index_summary: maybeText,
  index_coverage_state: maybeText,
  canonicals_match: z.boolean().nullable(),
  searchengine_selected_canonical: maybeText,
  user_selected_canonical: maybeText,
  last_crawl_time: maybeText,
  report_snapshot_id: maybeText,
  report_fetched_at: maybeText,
  absences: z.int(),
  consecutive_failures: z.int(),
  last_failure_at: maybeText,
  disappeared_at: maybeText,
});
type PageFacts = z.infer<typeof factsRow>;

const reportRow = z.object({
  fetched_at: z.string(),
  reason: maybeText,
  index_summary: maybeText,
  index_coverage_state: maybeText,
  indexing_allowed: maybeText,
  searchengine_selected_canonical: maybeText,
  user_selected_canonical: maybeText,
  searchenginebot_primary_crawler: maybeText,
  last_crawl_time: maybeText,
  page_fetch_status: maybeText,
  blocked_by_robots_txt: maybeText,
  sitemaps: maybeText,
  inspection_date: maybeText,
  page_detection: maybeText,
  inspection_link: maybeText,
  service_link: maybeText,
  previously_indexed: maybeText,
  previously_indexed_timestamp: maybeText,
  canonical_changed: maybeText,
  canonical_changed_timestamp: maybeText,
  ever_blocked_by_robots_txt: maybeText,
  ever_blocked_by_robots_txt_timestamp: maybeText,
});
const sitemapsText = z.array(z.string());
type PageReport = Omit<z.infer<typeof reportRow>, 'sitemaps'> & { sitemaps: string[] | null };

/** What is known of one page: how it stands in the newest listing and report, and what changed about it. */
export async function pagePage(context: WebsiteContext): Promise<Content> {
  const query = readQuery(pageQuery, context.query);
  const { facts, report, changes } = await context.ask((reader) => readPage(reader, context.website.id, query));
  const content = html`<h1 class="url">${shortened(facts.url, HEADING_CHARACTERS)}</h1>
<p>${pageLink(facts.url)}</p>
${standing(facts)}
<section aria-labelledby="h-changes"><h2 id="h-changes">Changes</h2>
${list({
  id: 'changes',
  one: 'change',
  caption: 'What changed about this page, the newest first',
  columns: CHANGE_COLUMNS,
  empty: 'Nothing changed about this page since it was first seen.',
  query,
  ...changes,
  linkOf: (page) => linkTo(context, 'page', { url: facts.url, per: query.per, page }),
})}</section>
<div class="beside">
<section aria-labelledby="h-listing"><h2 id="h-listing">Newest listing</h2>
${listing(facts)}</section>
<section aria-labelledby="h-report"><h2 id="h-report">Newest report</h2>
${report ? reportPart(report, context.now) : html`<p class="empty">No report of this page is kept.</p>`}</section>
</div>`;
  return { title: `A page of ${nameOf(context.website)}`, content };
}

/** What is known of one page. @throws ServiceError 404 for an unknown one, and for a window behind the last change */
async function readPage(reader: Reader, website: string, query: z.infer<typeof pageQuery>) {
  const { url } = query;
  const [facts] = await askRows(reader, 'dashboard/page', factsRow, { website, url });
  if (!facts) throw new ServiceError(404, 'This website never listed such a page.');
  const report = await readReport(reader, website, facts);
  return { facts, report, changes: await readChangesOf(reader, website, url, query) };
}

/** Null where none was fetched, or none is kept. */
async function readReport(reader: Reader, website: string, facts: PageFacts): Promise<PageReport | null> {
  const { url, report_snapshot_id: snapshot } = facts;
  if (snapshot === null) return null;
  const [row] = await askRows(reader, 'dashboard/page_report', reportRow, { website, url, snapshot });
  if (!row) return null;
  const { sitemaps } = row;
  return { ...row, sitemaps: sitemaps === null ? null : sitemapsText.parse(JSON.parse(sitemaps)) };
}

/** What a reader has to know before the rest. */
function standing({ disappeared_at, absences, consecutive_failures, last_failure_at }: PageFacts): Part {
  const warnings: Part[] = [];
  if (disappeared_at !== null) warnings.push(html`No longer monitored since ${time(disappeared_at)}.`);
  else if (absences > 0) warnings.push(`Missing from the last ${counted(absences, 'complete listing')}.`);
  if (consecutive_failures > 0) {
    const times = counted(consecutive_failures, 'time');
    warnings.push(html`Its report could not be fetched ${times} in a row, last ${time(last_failure_at)}.`);
  }
  return warnings.map((warning) => html`<p class="warning">${warning}</p>\n`);
}

function listing(facts: PageFacts): Html {
  const { canonicals_match: match } = facts;
  return definitions([
    ['Listed', time(facts.listed_at)],
    ['First seen', time(facts.first_seen_at)],
    ['Last seen', time(facts.last_seen_at)],
    ['Index summary', orUnknown(facts.index_summary)],
    ['Coverage state', text(facts.index_coverage_state)],
    ['Canonical (search engine)', address(facts.searchengine_selected_canonical)],
    ['Canonical (declared)', address(facts.user_selected_canonical)],
    ['Canonicals match', match === null ? UNKNOWN : match ? 'yes' : html`<b class="bad">no</b>`],
    ['Last crawl', time(facts.last_crawl_time)],
  ]);
}

function reportPart(report: PageReport, now: number): Html {
  return definitions([
    ['Fetched', html`${time(report.fetched_at)} (${age(report.fetched_at, now)})`],
    ['Fetched because', text(report.reason)],
    ['Index summary', orUnknown(report.index_summary)],
    ['Coverage state', text(report.index_coverage_state)],
    ['Indexing allowed', text(report.indexing_allowed)],
    ['Blocked by robots.txt', text(report.blocked_by_robots_txt)],
    [
      'Ever blocked by robots.txt',
      since(report.ever_blocked_by_robots_txt, report.ever_blocked_by_robots_txt_timestamp),
    ],
    ['Page fetch', text(report.page_fetch_status)],
    ['Crawler', text(report.searchenginebot_primary_crawler)],
    ['Last crawl', time(report.last_crawl_time)],
    ['Canonical (search engine)', address(report.searchengine_selected_canonical)],
    ['Canonical (declared)', address(report.user_selected_canonical)],
    ['Canonical changed', since(report.canonical_changed, report.canonical_changed_timestamp)],
    ['Previously indexed', since(report.previously_indexed, report.previously_indexed_timestamp)],
    ['Sitemaps', sitemaps(report.sitemaps)],
    ['Inspected', time(report.inspection_date)],
    ['Detected', time(report.page_detection)],
    ['Inspection', address(report.inspection_link)],
    ['Service', address(report.service_link)],
  ]);
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
