import { expect } from 'vitest';
import { shareChart } from '../../../src/answers/html/charts/trend-chart.js';
import { NO_ESTIMATE } from '../../../src/answers/report/estimate.js';
import { addDays } from '../../../src/base/time.js';
import { once } from '../../given/at-length.js';

once('the share chart shows the number of each of two marked nights in a row', () => {
  const dates = Array.from({ length: 60 }, (_, at) => addDays('2025-01-01', at));
  const fallen = (at: number) => (at < 10 ? 0 : at < 30 ? 300 : at === 30 ? 322 : 340);
  const days = dates.map((date, at) => ({
    date,
    counts: { ...NO_ESTIMATE, pages: 1000, indexed: 900 - fallen(at) },
  }));
  const marks = [22, 18].map((lost, at) => ({ snapshot_date: dates[30 + at] ?? '', change: -lost }));
  const period = { since: dates[0] ?? '', until: dates.at(-1) ?? '' };
  const { text } = shareChart('share', days, { period, marks, notes: [] });
  const shown = [...text.matchAll(/<text[^>]*>\s*(−\d+)\s*<\/text>/g)].map(([, number]) => number);
  // Once for wide screens, and once for narrow ones.
  expect(shown).toEqual(['−22', '−18', '−22', '−18']);
});
