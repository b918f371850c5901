import { expect, test } from 'vitest';
import { openReader, rowsOf } from '../answers/query/given.js';
import { randomWarehouse } from '../given/random-world.js';
import { GUIDE_STATEMENTS, queryAnswer, sorted } from './lake.js';

test('the statements of docs/beyond-one-machine.md answer as query does', async () => {
  const { path } = await randomWarehouse(1, 12, 20, ['shop', 'a/b %é']);
  const reader = await openReader(path);
  for (const analysis of GUIDE_STATEMENTS) {
    const rows = await rowsOf(reader, analysis.sql);
    expect(rows.length, `${analysis.name} has no rows`).toBeGreaterThan(0);
    const expected = sorted(await queryAnswer(reader, analysis), Object.keys(rows[0] ?? {}));
    expect([analysis.name, sorted(rows)]).toEqual([analysis.name, expected]);
  }
});
