import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { copyOf } from '../../given/folder.js';
import { at, buildNights, maintainAt } from '../../given/thinned.js';
import { sharedWarehouse } from '../../given/warehouse.js';
import { analysisRows, analysisRowsOfFile, openReader } from './given.js';

const TODAY = '2025-03-18';
/** What these nights hold: see `buildNights`. */
const built = sharedWarehouse(() => buildNights(undefined, { followed: 'followed' }));
/** Thinned to the listings of the 2nd, the 9th, the 16th and the 18th. */
let thinned: string;

beforeAll(async () => {
  thinned = copyOf(built.path);
  await maintainAt(thinned);
});

type Rows = Record<string, unknown>[];
type Given = Record<string, string>;

async function byParquet(warehouse: string, name: string, given: Given): Promise<Rows> {
  const reader = await openReader(warehouse);
  return await analysisRows(reader, name, given);
}

function byDuckdb(warehouse: string, name: string, given: Given): Promise<Rows> {
  return analysisRowsOfFile({ file: join(warehouse, 'indexhouse.duckdb'), today: TODAY }, name, given);
}

/** The answers of both ways to ask a thinned warehouse. */
async function byBoth(name: string, given: Given): Promise<Rows[]> {
  return [await byParquet(thinned, name, given), await byDuckdb(thinned, name, given)];
}

const differences = (rows: Rows) => rows.map(({ url, figure }) => `${url} ${figure}`);
const shop = (name: string, difference: string) => `${at('shop', name)} ${difference}`;
const diff = (since: string, until = TODAY) => ({ website: 'shop', since, until, pages: 'true' });

describe('compare, page by page,', () => {
  test('has every date as it was, though its listing is out of use', async () => {
    const expected = [shop('a', 'changed'), shop('f', 'gone')];
    for (const rows of await byBoth('compare', diff('2025-03-05', '2025-03-11'))) {
      expect(differences(rows)).toEqual(expected);
      expect(rows[0]?.['left_state']).toBe('as of the 5');
      expect(rows[0]?.['right_state']).toBe('as of the 11');
    }
  });

  test('says the same as before the listings were removed', async () => {
    for (const dates of [diff('2025-03-01'), diff('2025-03-09', '2025-03-11')]) {
      const whole = await byParquet(built.path, 'compare', dates);
      expect(whole.length).toBeGreaterThan(0);
      expect(await byBoth('compare', dates)).toEqual([whole, whole]);
    }
    expect(differences(await byParquet(thinned, 'compare', diff('2025-03-01')))).toHaveLength(3);
  });
});
