import { expect, test } from 'vitest';
import { Faults, violate } from '../../../../src/app/demo/simulator/faults.js';
import { World } from '../../../../src/app/demo/simulator/world.js';
import { validate } from '../../../../src/base/validate.js';
import { coverageEntrySchema, coverageWindowSchema } from '../../../../src/source/contract/coverage.js';
import { urlReportSchema } from '../../../../src/source/contract/report.js';
import { NASTY_PATHS } from '../../../given/nasty-paths.js';
import { pagesOf } from '../../../given/pages-of.js';

const world = () => new World({ websites: [{ id: 'w', pages: 500, paths: NASTY_PATHS }] });

test('the same seed gives the same world, however its nights are counted', () => {
  const [a, b] = [world(), world()];
  a.advance(3);
  for (let night = 1; night <= 3; night++) {
    b.advance();
    b.listing('w', night * 7, 5);
    b.report('w', b.listing('w', 2, 1).entries[0]?.url ?? '');
  }
  expect(pagesOf(b, 'w')).toEqual(pagesOf(a, 'w'));
  expect(a.now.toISOString()).toBe('2026-01-04T02:00:00.000Z');
});

test('every entry and report keeps the contract, and every violation breaks it', () => {
  const held = world();
  held.advance(3);
  for (const { coverage, report } of pagesOf(held, 'w')) {
    const hasData = coverage.index_summary !== null;
    const absent = hasData ? [] : ['canonicals_match'];
    expect(validate(coverageEntrySchema, coverage)).toMatchObject({ accepted: true, absent, extra: null });
    expect(validate(urlReportSchema, report)).toMatchObject({ accepted: true, absent: [], extra: null });
    const values = Object.entries(report).filter(([field]) => field !== 'url');
    if (!hasData) expect(values.every(([, value]) => value === null)).toBe(true);
  }
  const { url } = held.listing('w', 0, 1).entries[0] ?? { url: '' };
  const body = JSON.stringify(held.report('w', url));
  const spoilt = Array.from({ length: 100 }, (_, draw) => violate(body, 'report', draw));
  expect(spoilt.filter((text) => urlReportSchema.safeParse(JSON.parse(text)).success)).toEqual([]);
  expect(new Set(spoilt).size).toBeGreaterThan(10);
  const empty = violate('{"urls":[],"pagination":{}}', 'listing', 1);
  expect(coverageWindowSchema.safeParse(JSON.parse(empty)).success).toBe(false);
});

test('faults come from seed and number of the request alone, at their rates', () => {
  const rates = { reset: 0.1, '503': 0.2, slow: 0.3 };
  const kinds = (seed: number): unknown[] =>
    Array.from({ length: 10_000 }, (_, n) => new Faults(seed, rates).kindFor(n, 'listing'));
  const first = kinds(1);
  expect(kinds(1)).toEqual(first);
  expect(kinds(2)).not.toEqual(first);
  for (const [kind, rate] of Object.entries(rates)) {
    expect(Math.abs(first.filter((drawn) => drawn === kind).length / 10_000 - rate)).toBeLessThan(0.02);
  }
});
