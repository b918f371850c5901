import { describe, expect, it } from 'vitest';
import { World, type WorldOptions } from '../../../../src/app/demo/simulator/world.js';
import { validate } from '../../../../src/base/validate.js';
import { coverageEntrySchema } from '../../../../src/source/contract/coverage.js';
import { urlReportSchema } from '../../../../src/source/contract/report.js';
import { atLength, once } from '../../../given/at-length.js';
import { NASTY_PATHS } from '../../../given/nasty-paths.js';
import { pagesOf } from '../../../given/pages-of.js';

function world(options: WorldOptions & { pages?: number; paths?: readonly string[] } = {}): World {
  const { pages = 3000, paths = [], ...rest } = options;
  return new World({ websites: [{ id: 'w', pages, paths }], ...rest });
}

function truth(of: World) {
  return pagesOf(of, 'w');
}

describe('determinism', () => {
  it('the same seed gives the same world, however its nights are counted', () => {
    const options = { paths: NASTY_PATHS, pages: atLength(500, 3000) };
    const [a, b] = [world(options), world(options)];
    a.advance(3);
    for (let night = 1; night <= 3; night++) {
      b.advance();
      b.listing('w', night * 7, 5);
      b.report('w', b.listing('w', 2, 1).entries[0]?.url ?? '');
    }
    expect(truth(b)).toEqual(truth(a));
    expect(a.now.toISOString()).toBe('2026-01-04T02:00:00.000Z');
  });
});

describe('the contract', () => {
  it.each(atLength([3], [0, 1, 3, 10]))('holds for every entry and report of night %i', (nights) => {
    const held = world({ pages: 1000, paths: NASTY_PATHS });
    held.advance(nights);
    for (const { coverage, report } of truth(held)) {
      const hasData = coverage.index_summary !== null;
      expect(validate(coverageEntrySchema, coverage)).toMatchObject({
        accepted: true,
        absent: hasData ? [] : ['canonicals_match'],
        extra: null,
      });
      expect('canonicals_match' in coverage).toBe(hasData);
      expect(validate(urlReportSchema, report)).toMatchObject({ accepted: true, absent: [], extra: null });
      const values = Object.entries(report).filter(([field]) => field !== 'url');
      if (!hasData) expect(values.every(([, value]) => value === null)).toBe(true);
    }
  });
});

describe('evolution', () => {
  const urlsOf = (of: World) => truth(of).map(({ coverage }) => coverage.url);

  once('keeps the order of pages that stay, removes anywhere, and adds mostly at the end', () => {
    const held = world({ pages: 12_000 });
    const before = urlsOf(held);
    held.advance(3);
    const after = urlsOf(held);
    const [was, is] = [new Set(before), new Set(after)];
    expect(after.filter((url) => was.has(url))).toEqual(before.filter((url) => is.has(url)));
    expect(is.size).toBe(after.length);
    const removed = before.flatMap((url, at) => (is.has(url) ? [] : [at / before.length]));
    expect(Math.min(...removed)).toBeLessThan(0.2);
    expect(Math.max(...removed)).toBeGreaterThan(0.8);
    const lastOld = after.findLastIndex((url) => was.has(url));
    const [inside, atEnd] = [after.slice(0, lastOld).filter((url) => !was.has(url)).length, after.length - 1 - lastOld];
    expect(inside).toBeGreaterThan(0);
    expect(atEnd).toBeGreaterThan(inside * 3);
  });
});
