import { changeOf, counted, dayOfMonth, type Figure, percent, points, shareOf, signed } from '../../html/figures.js';
import { type Html, html, type Part } from '../../html/html.js';
import { count } from '../../observe/format.js';
import type { Headline } from '../headline.js';
import type { Period } from '../period.js';

/** The numbers that a reader looks for first, each with what it was before. */
export function headlinePart(headline: Headline, period: Period): Html {
  const { pages, indexed, robots_unblocked, listed_on } = headline;
  const known = (value: Part) => (listed_on === null ? '–' : value);
  const share = shareOf(indexed.now, pages.now);
  const shareBefore = shareOf(indexed.before, pages.before);
  const change = share !== null && shareBefore !== null ? points(shareBefore, share) : null;
  return html`<dl class="tiles">
${tile('Pages monitored', known(count(pages.now)), sinceThen(pages, headline))}
${tile('Indexed', known(html`${count(indexed.now)} <small>${percent(share)}</small>`), lines(sinceThen(indexed, headline), change))}
${tile('Newly indexed', count(headline.newly_indexed.now), thenToo(headline.newly_indexed, period))}
${tile('De-indexed', count(headline.deindexed.now), thenToo(headline.deindexed, period))}
${tile('Appeared', count(headline.appeared.now), thenToo(headline.appeared, period))}
${tile('Disappeared', count(headline.disappeared.now), thenToo(headline.disappeared, period))}
${tile('Canonical flips', count(headline.canonical_flips.now), thenToo(headline.canonical_flips, period))}
${tile('Newly blocked by robots.txt', count(headline.robots_blocked.now), lines(thenToo(headline.robots_blocked, period), `${count(robots_unblocked.now)} unblocked`))}
</dl>
`;
}

/** The same in one sentence. */
export function headlineSentence({ pages, indexed, deindexed, compared_with, listed_on }: Headline): Part {
  if (listed_on === null) return null;
  const change = changeOf(indexed);
  const than = change === null || compared_with === null ? null : `, ${moreOrFewer(change)} ${compared_with}`;
  const fell = compared_with === null ? '' : ` ${counted(deindexed.now, 'page')} fell out of the index.`;
  const share = percent(shareOf(indexed.now, pages.now));
  return html`<p class="lead">${count(indexed.now)} of ${counted(pages.now, 'page')} ${indexed.now === 1 ? 'is' : 'are'} indexed${share ? ` (${share})` : ''}${than}.${fell}</p>
`;
}

function moreOrFewer(change: number): string {
  if (change === 0) return 'as many as on';
  return `${count(Math.abs(change))} ${change > 0 ? 'more' : 'fewer'} than on`;
}

function tile(name: string, value: Part, below: Part): Html {
  return html`<div><dt>${name}</dt><dd><b>${value}</b><span>${below}</span></dd></div>`;
}

function lines(...texts: readonly (string | null)[]): Html[] {
  const told = texts.filter((text) => text !== null);
  return told.map((text, at) => (at === 0 ? html`${text}` : html`<br>${text}`));
}

function sinceThen(figure: Figure, { compared_with }: Headline): string | null {
  const change = changeOf(figure);
  return change === null || compared_with === null ? null : `${signed(change)} since ${dayOfMonth(compared_with)}`;
}

function thenToo({ before }: Figure, { days }: Period): string | null {
  if (before === null) return null;
  return `${count(before)} in the ${days === 1 ? 'day' : `${days} days`} before`;
}
