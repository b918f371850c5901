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
  test('passes over listings that are out of use', async () => {
    const expected = [shop('a', 'changed'), shop('e', 'changed'), shop('f', 'gone')];
    // The 5th is compared by the 2nd, and the 11th by the 9th.
    for (const rows of await byBoth('compare', diff('2025-03-05', '2025-03-11'))) {
      expect(differences(rows)).toEqual(expected);
      expect(rows[0]?.['left_state']).toBe('as of the 2');
      expect(rows[0]?.['right_state']).toBe('as of the 9');
    }
  });

  test('compares nothing where no listing is left, or just one', async () => {
    expect(differences(await byParquet(built.path, 'compare', diff('2025-03-01')))).toHaveLength(3);
    expect(await byBoth('compare', diff('2025-03-01'))).toEqual([[], []]);
    expect(await byBoth('compare', diff('2025-03-09', '2025-03-11'))).toEqual([[], []]);
  });
});
