import { expect, onTestFinished, test } from 'vitest';
import { indexed, SHOP, scriptedProperty } from './scripted-property.js';

const OUT = { verdict: 'NEUTRAL', coverageState: 'Crawled - currently not indexed' };
const SHARES = `select share_low as low, share_high as high
  from estimated_shares(null, '2026-12-31'::date) order by snapshot_date`;

/** A website on a night: its pages, and those that are out of the index. */
interface Site {
  pages: string[];
  out: ReadonlySet<string>;
}

async function sharesOf(perDay: number, sites: readonly Site[]) {
  const { pass, rows } = await scriptedProperty(onTestFinished, { inspections_per_day: perDay });
  for (const { pages, out } of sites) {
    await pass({ sitemap: pages, inspect: (url) => (out.has(url) ? OUT : indexed(url)) });
  }
  const bounds = await rows(SHARES);
  return sites.map(({ pages, out }, night) => {
    const truth = pages.filter((url) => !out.has(url)).length / pages.length;
    return {
      truth,
      low: Number(bounds[night]?.['low']),
      high: Number(bounds[night]?.['high']),
    };
  });
}

function pagesOf(name: string, count: number): string[] {
  return Array.from({ length: count }, (_, at) => `${SHOP}/${name}/${at}`);
}

test('a website whose pages are all inspected has its exact share from the first night on', async () => {
  const pages = pagesOf('a', 43);
  const shares = await sharesOf(100, [
    { pages, out: new Set(pages.slice(0, 7)) },
    { pages, out: new Set(pages.slice(0, 9)) },
  ]);
  for (const { truth, low, high } of shares) {
    expect(low).toBe(high);
    expect(low).toBeCloseTo(truth, 4);
  }
});

test('the interval contains the share while pages fall, new ones come, and all addresses change', async () => {
  const [old, moved, later] = [pagesOf('a', 60), pagesOf('moved', 60), pagesOf('new', 15)];
  const sites = Array.from({ length: 10 }, (_, night) => {
    const pages = [...old, ...later.slice(0, 3 * night), ...(night >= 6 ? moved : [])];
    const isOut = (url: string, at: number) => {
      if (moved.includes(url)) return at % 9 > night - 6;
      return at % 4 === 0 || at < night || at % 9 < night - 5;
    };
    return { pages, out: new Set(pages.filter(isOut)) };
  });
  const shares = await sharesOf(15, sites);
  const missed = shares.filter(({ truth, low, high }) => truth < low - 0.0001 || truth > high + 0.0001);
  expect(missed).toEqual([]);
  // It says something before the move.
  expect((shares[5]?.high ?? 1) - (shares[5]?.low ?? 0)).toBeLessThan(0.5);
});
