import { Html, html, type Part, shortened } from '../html/html.js';
import { count, counted, type Figure, percent, shareOf, signed } from '../observe/format.js';
import { BEGINNING, MARK } from './page.js';
import { nameOf } from './parts/part.js';
import type { Report } from './report.js';
import type { Section } from './section.js';
import { storyOf } from './story.js';

const STATES_LISTED = 8;
const DIRECTORIES_LISTED = 5;
const DATES_LISTED = 14;
const CELL_CHARACTERS = 80;

// Mail programs know neither style sheets nor SVG.
const TEXT = new Html('style="padding:3px 14px 3px 0;text-align:left;border-bottom:1px solid #d5dae1"');
const NUMBER = new Html('style="padding:3px 0 3px 14px;text-align:right;border-bottom:1px solid #d5dae1"');

/** The short form of a report for the body of a mail: the story, and tables of what matters most. */
export function reportMail(report: Report): string {
  const { websites, sections, period, version } = report;
  const subject = websites[0] && !websites[1] ? nameOf(websites[0]) : counted(websites.length, 'website');
  const titled = sections.length > 1;
  return html`${new Html(BEGINNING)}<meta charset="utf-8">
${new Html(MARK)}${version}">
<title>Index report: ${subject}, ${period.since} to ${period.until}</title>
</head>
<body style="font-family:sans-serif;max-width:44rem">
<h2>How ${subject} ${websites[1] ? 'are' : 'is'} indexed</h2>
<p>${period.since} to ${period.until}</p>
${sections.map((section) => html`${titled && section.websites[0] ? html`<h3>${nameOf(section.websites[0])}</h3>` : null}${sectionOf(section, report)}`)}
</body>
</html>
`.text;
}

function sectionOf(section: Section, { period }: Report): Part {
  const { headline, states, directories, trend } = section;
  const story = storyOf({ ...section, common: section.deindexed.common }, period);
  const lost = directories
    .map(({ directory, indexed, indexed_before }) => ({
      directory,
      indexed,
      change: indexed - (indexed_before ?? indexed),
    }))
    .filter(({ change }) => change < 0)
    .sort((one, other) => one.change - other.change);
  const figures: [string, Figure][] = [
    ['Pages monitored', headline.pages],
    ['Indexed', headline.indexed],
    ['Newly indexed', headline.newly_indexed],
    ['De-indexed', headline.deindexed],
    ['Canonical flips', headline.canonical_flips],
  ];
  return html`${story.map((sentence) => html`<p>${sentence}</p>\n`)}
${table(
  ['', 'now', 'before'],
  figures.map(([name, { now, before }]) => [name, count(now), before === null ? '' : count(before)]),
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
  lost.slice(0, DIRECTORIES_LISTED).map((row) => [row.directory, count(row.indexed), signed(row.change)]),
)}
${listed('Trend', ['date', 'indexed', 'share'], trendRows(trend))}`;
}

function trendRows(trend: Section['trend']): string[][] {
  return trend.slice(-DATES_LISTED).flatMap(({ date, counts }) => {
    return counts ? [[date, count(counts.indexed), percent(shareOf(counts.indexed, counts.pages))]] : [];
  });
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
