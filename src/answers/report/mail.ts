import { count, type Figure, known, percent, signed } from '../../base/observe/format.js';
import { Html, html, type Part, shortened } from '../html/html.js';
import { ageSentence } from '../status/data-age.js';
import type { LastNight } from '../status/last-night.js';
import { shareIndexed } from './estimate.js';
import { changeOfDirectory, lostAndWon } from './over-time.js';
import { headingOf, opening } from './page.js';
import { shownName } from './parts/part.js';
import type { Report } from './report.js';
import type { Section } from './section.js';

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
${sections.map((section) => html`${titled && section.websites[0] ? html`<h3>${shownName(section.websites[0])}</h3>` : null}${sectionOf(section)}`)}
</body>
</html>
`.text;
}

function sectionOf(section: Section): Part {
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
