import { expect, test } from 'vitest';
import { World, type WorldOptions } from '../../../../src/app/demo/simulator/world.js';
import { validate } from '../../../../src/base/validate.js';
import { coverageEntrySchema } from '../../../../src/source/contract/coverage.js';
import { urlReportSchema } from '../../../../src/source/contract/report.js';
import { NASTY_PATHS } from '../../../given/nasty-paths.js';
import { pagesOf } from '../../../given/pages-of.js';

function world(options: WorldOptions & { pages?: number; paths?: readonly string[] } = {}): World {
  const { pages = 3000, paths = [], ...rest } = options;
  return new World({ websites: [{ id: 'w', pages, paths }], ...rest });
}

function truth(of: World) {
  return pagesOf(of, 'w');
}

test('the same seed gives the same world, however its nights are counted', () => {
  const options = { paths: NASTY_PATHS, pages: 500 };
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

test('the contract holds for every entry and report', () => {
  const held = world({ pages: 1000, paths: NASTY_PATHS });
  held.advance(3);
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
