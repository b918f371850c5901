import { counted, moment } from '../../base/observe/format.js';
import { shareChart, trendChart, trendLegend } from '../html/charts/trend-chart.js';
import { Html, html, type Part } from '../html/html.js';
import { STYLE } from '../html/style.js';
import { ageSentence, type DataAge } from '../status/data-age.js';
import { fallenPart, flipsPart } from './parts/changed-pages.js';
import { balanceNote, headlinePart, overviewPart } from './parts/headline.js';
import { ownPart, placesPart, reasonsPart, transitionsPart } from './parts/moves.js';
import { nameOf, note, part } from './parts/part.js';
import { freshnessPart, qualityPart } from './parts/quality.js';
import type { Period } from './period.js';
import type { Report } from './report.js';
import type { Section } from './section.js';
import { eventsIn, storyOf } from './story.js';

/** Nothing may be loaded or run, whatever the data contains. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

const BEGINNING = '<!doctype html>\n<html lang="en">\n<head>\n';
/** Marks a report as ours, so that a later one may overwrite it. */
const MARK = '<meta name="generator" content="indexhouse ';
/** The mark is within this many bytes from the beginning. */
export const MARK_BYTES = 2048;

/** Whether a file with this beginning is a report. */
export function isReport(beginning: string): boolean {
  return beginning.startsWith(BEGINNING) && beginning.includes(MARK);
}

/** The beginning of a report's HTML, up to its title. */
export function opening({ websites, period, version }: Report, ...more: Part[]): Html {
  return html`${new Html(BEGINNING)}<meta charset="utf-8">
${new Html(MARK)}${version}">
${more}<title>Index report: ${subjectOf(websites)}, ${period.since} to ${period.until}</title>
`;
}

/** The heading of a report. */
export function headingOf({ websites }: Report): string {
  return `How ${subjectOf(websites)} ${websites[1] ? 'are' : 'is'} indexed`;
}

function subjectOf(websites: Report['websites']): string {
  const [only, second] = websites;
  return only && !second ? nameOf(only) : counted(websites.length, 'website');
}

/** The report as one self-contained HTML document. */
export function reportPage(report: Report): string {
  const { websites, sections, period, total } = report;
  const second = websites[1];
  const isTogether = second !== undefined && sections.length === 1;
  const page = html`${opening(
    report,
    html`<meta http-equiv="Content-Security-Policy" content="${new Html(POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
`,
  )}<style>${new Html(STYLE)}</style>
</head>
<body>
${ageBand(report.age)}
<header>
<h1>${headingOf(report)}</h1>
<div class="about">${about(report)}</div>
</header>
<main>
${second && !isTogether ? [lead(storyOf({ headline: total, events: [], common: [] }, period)), headlinePart(total, period), overviewPart(report)] : null}
${sections.map((section, at) => sectionOf(section, { id: `s${at + 1}`, period, titled: second !== undefined && !isTogether, together: isTogether ? report : null }))}
</main>
</body>
</html>
`;
  return page.text;
}

function about({ period, made_at, total, newest, version }: Report): Part {
  const { since, until, days } = period;
  const compared =
    total.compared_with === null
      ? 'nothing to compare with'
      : `compared with the listing of ${total.compared_with}${total.compared_with < since ? '' : ', the first one'}`;
  return html`<p>${since} to ${until} (${counted(days, 'day')}), ${compared}</p>
${newest > until ? html`<p>The current state of pages, their crawls, reports and features is as of ${newest}.</p>` : null}
<p>Created ${moment(made_at)} by indexhouse ${version}. Times are in UTC; dates are those of the snapshots.</p>`;
}

function sectionOf(
  section: Section,
  { id, period, titled, together }: { id: string; period: Period; titled: boolean; together: Report | null },
): Html {
  const [first] = section.websites;
  return html`<section>
${titled && first ? html`<h2>${nameOf(first)}</h2>` : null}
${lead(section.story)}
${caveats(section, period).map((caveat) => html`<p class="warning">${caveat}</p>`)}
${together ? overviewPart(together) : null}
${sharePart(id, section, period)}
${headlinePart(section.headline, period)}
${balanceNote(section.balance)}
${reasonsPart(section)}
${placesPart(section, period)}
${ownPart(section)}
${transitionsPart(section)}
${fallenPart(section, period)}
${flipsPart(section, period)}
${freshnessPart(id, section)}
${trendPart(id, section, period)}
${qualityPart(id, section, period)}
</section>
`;
}

/** Above everything else: as of when the data is, as a warning if it is too old. */
export function ageBand(age: DataAge | null): Part {
  if (age === null) return null;
  const kind = new Html(age.old === null ? 'class="note"' : 'class="warning" role="alert"');
  return html`<p ${kind}>${ageSentence(age)}</p>`;
}

/** Warnings that are shown above the first figure. */
function caveats({ websites, headline }: Section, { since }: Period): string[] {
  const [first, second] = websites;
  if (!first || second) return [];
  const { listed_on, compared_with } = headline;
  if (listed_on === null) return ['No listing was complete yet, so the number of indexed pages is unknown.'];
  const last = first.snapshots.at(-1);
  const partial = last?.listing_status === 'partial' && last.snapshot_date > listed_on;
  return [
    ...(listed_on < since ? [`The newest complete listing is of ${listed_on}, before this period.`] : []),
    ...(partial
      ? [`The listing of ${last.snapshot_date} is partial: the numbers of pages are those of ${listed_on}.`]
      : []),
    ...(compared_with === null && listed_on >= since
      ? ['This is the first complete listing, so there is nothing to compare it with yet.']
      : []),
  ];
}

/** What happened, in two or three sentences. */
function lead(story: readonly string[]): Part {
  return story.map(
    (sentence) => html`<p class="lead">${sentence}</p>
`,
  );
}

/** A line chart of the indexed share over the last 90 days, which marks the nights that broke their trend. */
function sharePart(id: string, { trend, events }: Section, { shown, ...period }: Period): Part {
  if (trend.filter(({ counts }) => counts !== null).length < 2) return null;
  const marks = eventsIn(events, shown).filter(({ what }) => what === 'website');
  const first = trend[0]?.date;
  const texts = [
    ...(marks.length > 0 ? ['▼ and ▲ mark nights that broke the trend, with the change in indexed pages.'] : []),
    ...(first !== undefined && first < period.since ? ['Shaded: the period of this report.'] : []),
  ];
  return part(
    'Share of the pages that is indexed',
    shareChart(`${id}-share`, trend, { period, marks }),
    texts.length > 0 ? note(texts.join(' ')) : null,
  );
}

/** How many pages were in the index and out of it over the last 90 days. */
function trendPart(id: string, { trend, websites }: Section, period: Period): Html {
  const known = trend.filter(({ counts }) => counts !== null);
  if (known.length === 0) return part('Trend', note('No listing was complete in this period, so there is no trend.'));
  const partial = trend.filter((day) => day.partial).length;
  const first = trend[0]?.date;
  return part(
    'Pages by index state',
    trendLegend(trend, first !== undefined && first < period.since),
    trendChart(`${id}-trend`, trend, period),
    notes(partial, websites.length),
  );
}

function notes(partial: number, websites: number): Part {
  const nights = `${counted(partial, 'night')} had only a partial listing. Such a night is marked and not counted.`;
  const carried = 'A website that was not listed on a date counts with its last complete listing.';
  const texts = [...(partial > 0 ? [nights] : []), ...(websites > 1 ? [carried] : [])];
  return texts.length > 0 ? note(texts.join(' ')) : null;
}
