import { counted } from '../../html/figures.js';
import { type Html, html, type Part, pageLink, shortened } from '../../html/html.js';
import { linkTo, type WebsiteContext } from '../context.js';
import type { PageFacts, PageQuery, PageReport, PageTimeline } from '../data/page.js';
import { CHANGE_COLUMNS } from './changes-view.js';
import { list } from './list.js';
import { age, orUnknown, text, time, UNKNOWN } from './values.js';

const HEADING_CHARACTERS = 120;

/** What is known of one page: how it stands in the newest listing and report, and what changed about it. */
export function pageView(context: WebsiteContext, query: PageQuery, timeline: PageTimeline): Html {
  const { facts, report, count, rows } = timeline;
  return html`<h1 class="url">${shortened(facts.url, HEADING_CHARACTERS)}</h1>
<p>${pageLink(facts.url)}</p>
${standing(facts)}
<section aria-labelledby="h-changes"><h2 id="h-changes">Changes</h2>
${list({
  id: 'changes',
  one: 'change',
  caption: 'What changed about this page, the newest first',
  columns: CHANGE_COLUMNS,
  rows,
  empty: 'Nothing changed about this page since it was first seen.',
  asked: { window: { ...query, count } },
  linkOf: (page) => linkTo(context, 'page', { url: facts.url, per: query.per, page }),
})}</section>
<div class="beside">
<section aria-labelledby="h-listing"><h2 id="h-listing">Newest listing</h2>
${listing(facts)}</section>
<section aria-labelledby="h-report"><h2 id="h-report">Newest report</h2>
${report ? reportPart(report, context.now) : html`<p class="empty">No report of this page is kept.</p>`}</section>
</div>`;
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
