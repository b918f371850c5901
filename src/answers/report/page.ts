import { count, counted, type Figure, known, moment, percent, signed } from '../../base/observe/format.js';
import { Html, html, type Part, shortened } from '../html/html.js';
import { STYLE } from '../html/style.js';
import { ageSentence, type DataAge } from '../status/data-age.js';
import type { LastNight } from '../status/status.js';
import { shareIndexed } from './estimate.js';
import { changeOfDirectory, lostAndWon } from './over-time.js';
import { fallenPart, flipsPart } from './parts/changed-pages.js';
import { DIRECTORIES, firstPage, hasCourseOf, nightsPart } from './parts/first-page.js';
import { balanceNote, headlinePart, overviewPart } from './parts/headline.js';
import { ownPart, placesPart, reasonsPart, searchPart, transitionsPart } from './parts/moves.js';
import { shownName } from './parts/part.js';
import { freshnessPart, qualityPart } from './parts/quality.js';
import type { Period } from './period.js';
import type { Report } from './report.js';
import type { Section } from './section.js';

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
function opening({ websites, period, version }: Report, ...more: Part[]): Html {
  return html`${new Html(BEGINNING)}<meta charset="utf-8">
${new Html(MARK)}${version}">
${more}<title>Index report: ${subjectOf(websites)}, ${period.since} to ${period.until}</title>
`;
}

/** The heading of a report. */
function headingOf({ websites }: Report): string {
  return `How ${subjectOf(websites)} ${websites[1] ? 'are' : 'is'} indexed`;
}

function subjectOf(websites: Report['websites']): string {
  const [only, second] = websites;
  return only && !second ? shownName(only) : counted(websites.length, 'website');
}

/**
 * The report as one self-contained HTML document: a first page that stands alone, and an appendix.
 *
 * @param isBrief without the appendix
 */
export function reportPage(report: Report, isBrief = false): string {
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
<header>
${ageBand(report.age)}
<h1>${headingOf(report)}</h1>
<div class="about">${about(report)}</div>
</header>
<main>
${firstPage(report)}
${isBrief ? null : appendix(report)}
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

function appendix(report: Report): Html {
  const { websites, sections, period } = report;
  const [first, second] = sections;
  return html`<h2 class="appendix">Appendix</h2>
${websites[1] && first && !second ? overviewPart(report) : null}
${sections.map((section, at) => sectionOf(section, { id: `s${at + 1}`, period, titled: second !== undefined }))}`;
}

function sectionOf(section: Section, { id, period, titled }: { id: string; period: Period; titled: boolean }): Html {
  const [first] = section.websites;
  return html`<section>
${titled && first ? [html`<h2>${shownName(first)}</h2>`, headlinePart(section.headline, period, 'first')] : null}
${headlinePart(section.headline, period, 'others')}
${balanceNote(section.balance)}
${nightsPart(id, section)}
${titled || hasCourseOf(section) ? searchPart(id, section) : null}
${placesPart(id, section, { shownBefore: titled ? 0 : DIRECTORIES })}
${reasonsPart(id, section)}
${ownPart(section)}
${transitionsPart(section)}
${fallenPart(section, period)}
${flipsPart(section, period)}
${freshnessPart(id, section)}
${qualityPart(id, section, period)}
</section>
`;
}

/** Above everything else: as of when the data is, as a warning if it is too old. */
export function ageBand(age: DataAge | null): Part {
  if (age === null) return null;
  return band(ageSentence(age), age.old !== null);
}

/** The verdict on the last night, as a warning if it is not good. */
export function lastNightBand({ is_good, sentence }: LastNight): Html {
  return band(sentence, is_good === false);
}

function band(sentence: string, isWarning: boolean): Html {
  const kind = new Html(isWarning ? 'class="warning" role="alert"' : 'class="note"');
  return html`<p ${kind}>${sentence}</p>`;
}

const STATES_LISTED = 8;
const DIRECTORIES_LISTED = 5;
const DATES_LISTED = 14;
const CELL_CHARACTERS = 80;

// Mail programs know neither style sheets nor SVG.
const TEXT = new Html('style="padding:3px 14px 3px 0;text-align:left;border-bottom:1px solid #d5dae1"');
const NUMBER = new Html('style="padding:3px 0 3px 14px;text-align:right;border-bottom:1px solid #d5dae1"');

/** The short form of a report for the body of a mail: the story, and tables of what matters most. */
export function reportMail(report: Report, lastNight: LastNight | null = null): string {
  const { sections, period, age } = report;
  const titled = sections.length > 1;
  return html`${opening(report)}</head>
<body style="font-family:sans-serif;max-width:44rem">
${lastNight && html`<p><b>${lastNight.sentence}</b></p>`}
<p>${age && ageSentence(age)}</p>
<h2>${headingOf(report)}</h2>
<p>${period.since} to ${period.until}</p>
${sections.map((section) => html`${titled && section.websites[0] ? html`<h3>${shownName(section.websites[0])}</h3>` : null}${mailSection(section)}`)}
</body>
</html>
`.text;
}

function mailSection(section: Section): Part {
  const { story, news, caveats, headline, states, directories, trend, fallen } = section;
  const { lost } = lostAndWon(directories, changeOfDirectory);
  const figures: [string, Figure][] = [
    ['Pages monitored', headline.pages],
    ['Indexed', headline.indexed],
    ['Entered', headline.entered],
    ['Fell out', headline.fell_out],
    ...(headline.retired ? [['Retired', { now: headline.retired, before: null }] as [string, Figure]] : []),
    ['Canonical flips', headline.canonical_flips],
  ];
  return html`${[...story, ...news, ...caveats].map((sentence) => html`<p>${sentence}</p>\n`)}
${table(
  ['', 'now', 'before'],
  figures.map(([name, { now, before }]) => [name, known(now), before === null ? '' : count(before)]),
)}
${listed(
  'Why pages are not indexed',
  ['state', 'pages', 'change'],
  states
    .filter(({ index_summary }) => index_summary !== 'Indexed')
    .slice(0, STATES_LISTED)
    .map((row) => [row.index_coverage_state, count(row.pages), signed(row.pages_change)]),
)}
${listed(
  'Directories that lost indexed pages',
  ['directory', 'indexed', 'change'],
  lost.slice(0, DIRECTORIES_LISTED).map((row) => [row.directory, count(row.indexed), signed(changeOfDirectory(row))]),
)}
${listed(
  'What to look at first',
  ['page', 'pages like it'],
  fallen.examples.map(({ url, fallen: pages }) => [url, count(pages)]),
)}
${listed(
  'Trend',
  ['date', 'indexed', 'share'],
  trend
    .slice(-DATES_LISTED)
    .flatMap(({ date, counts }) => (counts ? [[date, count(counts.indexed), percent(shareIndexed(counts))]] : [])),
)}`;
}

function listed(title: string, heads: readonly string[], rows: readonly (readonly string[])[]): Part {
  return rows.length === 0 ? null : html`<h4>${title}</h4>${table(heads, rows)}`;
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): Html {
  const cells = (tag: string, texts: readonly string[]) =>
    texts.map(
      (text, at) =>
        html`<${new Html(tag)} ${at === 0 ? TEXT : NUMBER}>${shortened(text, CELL_CHARACTERS)}</${new Html(tag)}>`,
    );
  return html`<table style="border-collapse:collapse"><tr>${cells('th', heads)}</tr>
${rows.map((row) => html`<tr>${cells('td', row)}</tr>\n`)}</table>`;
}
