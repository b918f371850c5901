import { count, counted, datesText, dayOfMonth, percent, shareOf, signed } from '../../../base/observe/format.js';
import { noteList, shareChart, stackChart } from '../../html/charts/trend-chart.js';
import { type Html, html, type Part, pageLink, shortened } from '../../html/html.js';
import { stateName, statesGrown } from '../over-time.js';
import type { Period } from '../period.js';
import type { Report } from '../report.js';
import type { FallenRow, StateRow } from '../rows.js';
import type { Moves, Section } from '../section.js';
import { eventsIn, storyOf } from '../story.js';
import { headlinePart, overviewPart } from './headline.js';
import { heatMap } from './heat-map.js';
import { searchPart } from './moves.js';
import { command, note, shownName, websiteParameter } from './part.js';

const WEBSITES = 10;
/** Directories on the first page of a report on one website. */
export const DIRECTORIES = 6;
const STATES = 4;
const STATE_CHARACTERS = 60;
const URL_CHARACTERS = 60;
const PAGES_HEIGHT = 180;
const MOVES_HEIGHT = 150;

/** All that a manager needs, on one page: what happened, when, where and why, and what to look at first. */
export function firstPage(report: Report): Html {
  const { sections, period, total, websites } = report;
  const [section, second] = sections;
  if (section && !second) {
    const { heat } = section.over_time;
    const hasCourse = hasCourseOf(section);
    return html`<div class="first">
${lead(section)}
${websites[1] ? overviewPart(report, WEBSITES) : null}
${headlinePart(section.headline, period, 'first')}
${hasCourse ? html`<h2>Share of the pages that is indexed</h2>${sharePart('first-share', section, period)}` : searchPart('first', section)}
${heat.length > 0 ? html`<h2>Where</h2>${heatMap(section, heat.slice(0, DIRECTORIES))}` : null}
<div class="beside"><div>${whyPart(section)}</div><div>${lookPart(section, period)}</div></div>
</div>`;
  }
  return html`<div class="first">
${sentences(storyOf({ headline: total, websites: [], balance: [], events: [], common: [], places: [], moved: [] }, period))}
${headlinePart(total, period, 'first')}
${overviewPart(report)}
${sections.map((one) => html`<h2>${one.websites[0] ? shownName(one.websites[0]) : null}</h2>${lead(one)}`)}
</div>`;
}

/** Whether there is more than one listing. */
export function hasCourseOf({ trend }: Section): boolean {
  return trend.filter(({ counts }) => counts !== null).length > 1;
}

function lead({ story, history, news, caveats }: Section): Part {
  return [sentences([...story, ...history, ...news]), caveatsPart(caveats)];
}

function sentences(story: readonly string[]): Part {
  return story.map((sentence) => html`<p class="lead">${sentence}</p>\n`);
}

/** Warnings about the listings that the figures of one website come from. */
export function caveatsPart(caveats: readonly string[]): Part {
  return caveats.map((caveat) => html`<p class="warning">${caveat}</p>\n`);
}

/** A line chart of the indexed share over the last 90 days, which marks the nights that broke their trend. */
export function sharePart(
  id: string,
  { trend, events, notes }: Pick<Moves, 'trend' | 'events' | 'notes'>,
  period: Period,
): Part {
  const marks = eventsIn(events, period.shown).filter(({ what }) => what === 'website');
  const dates = trend.map(({ date }) => date);
  const texts = [
    ...(trend.some(({ counts }) => counts?.share_low !== counts?.share_high)
      ? ['Estimated for all pages; the area is the 95% interval.']
      : []),
    ...(marks.length > 0 ? ['Triangles: nights that broke the trend, with the change in indexed pages.'] : []),
    ...((dates[0] ?? period.since) < period.since ? [`Shaded: ${datesText(period.since, period.until)}.`] : []),
  ];
  return html`${shareChart(id, trend, { period, marks, notes })}
${noteList(dates, notes)}
${texts.length > 0 ? note(texts.join(' ')) : null}`;
}

/** The pages of each night, and those that came into the index and left it; nothing of several websites. */
export function nightsPart(id: string, { nights, notes }: Pick<Moves, 'nights' | 'notes'>): Part {
  if (nights === null || nights.dates.length < 2) return null;
  const { dates, pages, moves } = nights;
  const title = 'Pages by night';
  return html`<h3>${title}</h3>${stackChart({ id: `${id}-pages`, title, height: PAGES_HEIGHT }, dates, pages, notes)}
${moves.length > 0 ? [html`<h3>Arrivals and departures</h3>`, stackChart({ id: `${id}-moves`, title: 'Arrivals and departures', height: MOVES_HEIGHT }, dates, moves, [])] : null}`;
}

/** The states out of the index that grew much, or else those with the most pages. */
function whyPart(section: Section): Part {
  const { states, headline } = section;
  const all = states.reduce((sum, { pages }) => sum + pages, 0);
  const out = states.filter(({ index_summary }) => index_summary !== 'Indexed');
  const grown = statesGrown(states);
  const shown = (grown.length > 0 ? grown : out).slice(0, STATES);
  if (shown.length === 0) return null;
  const line = ({ index_coverage_state, pages, pages_change }: StateRow) => {
    const name = shortened(stateName(index_coverage_state), STATE_CHARACTERS);
    const change = pages_change === null ? '' : `${signed(pages_change)} to `;
    return html`<li>${name}: <b>${change}${count(pages)}</b> (${percent(shareOf(pages, all))})</li>\n`;
  };
  const since = headline.compared_with === null ? '' : `, since ${dayOfMonth(headline.compared_with)}`;
  return html`<h2>${grown.length > 0 ? `Why: states that grew${since}` : 'Why pages are not indexed'}</h2>
<ul>${shown.map(line)}</ul>`;
}

/** An example of each state that most pages fell to, and how to list them all. */
function lookPart(section: Section, { since, until }: Period): Part {
  const { examples } = section.fallen;
  if (examples.length === 0) return null;
  const line = ({ state, fallen, url }: FallenRow) =>
    html`<li>${counted(fallen, 'page')} now “${shortened(state, STATE_CHARACTERS)}”, such as ${pageLink(url, URL_CHARACTERS, examples[0]?.url)}</li>\n`;
  return html`<h2>What to look at first</h2>
<ul>${examples.map(line)}</ul>
${note('All that fell out: ', command('deindexed_pages', { ...websiteParameter(section), since, until }))}`;
}
