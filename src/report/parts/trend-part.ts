import { shareChart, trendChart } from '../../html/charts/trend-chart.js';
import { counted } from '../../html/figures.js';
import { type Html, html, type Part } from '../../html/html.js';
import type { Period } from '../period.js';
import type { Section } from '../section.js';
import { legend, note, part } from './table.js';

/** How the index changed over the last 90 days. */
export function trendPart(id: string, { trend, websites }: Section, period: Period): Html {
  const known = trend.filter(({ counts }) => counts !== null);
  if (known.length === 0) return part('Trend', note('No listing was complete in this time, so there is no trend.'));
  const partial = trend.filter((day) => day.partial).length;
  const marked = (first: string | undefined) => first !== undefined && first < period.since;
  return part(
    'Trend',
    legend(
      ['indexed', 'indexed'],
      ['not-indexed', 'not indexed'],
      ['no-data', 'no data: never inspected'],
      ...(partial > 0 ? [['partial', 'no complete listing that night'] as const] : []),
      ...(marked(trend[0]?.date) ? [['period', 'the period of this report'] as const] : []),
    ),
    trendChart(`${id}-trend`, trend, period),
    known.length > 1
      ? html`<h4>Share of the pages that is indexed</h4>${shareChart(`${id}-share`, trend, period)}`
      : null,
    notes(partial, websites.length),
  );
}

function notes(partial: number, websites: number): Part {
  const nights = `${counted(partial, 'night')} had only a partial listing. Such a night is marked and not counted.`;
  const carried = 'A website that was not listed on a date counts with its last complete listing.';
  const told = [...(partial > 0 ? [nights] : []), ...(websites > 1 ? [carried] : [])];
  return told.length > 0 ? note(told.join(' ')) : null;
}
