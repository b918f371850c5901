import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import type { Reader } from '../../src/analysis/reader.js';
import { withEngine } from '../../src/storage/engine.js';
import { atLength } from '../given/at-length.js';
import { temporaryFolder } from '../given/folder.js';
import { randomWarehouse } from '../given/random-world.js';
import type { BuiltWarehouse } from '../given/warehouse.js';
import { analysisRows, openReader } from './given.js';

const NIGHTS = atLength(8, 30);
const DAY_MS = 86_400_000;

let warehouse: BuiltWarehouse;
let reader: Reader;

beforeAll(async () => {
  warehouse = await randomWarehouse(1, NIGHTS);
  reader = await openReader(warehouse.path);
});

afterAll(() => {
  reader.close();
  warehouse.remove();
});

const anyRow = z.record(z.string(), z.unknown());

/** Rows of the Parquet files themselves: no view, no state, no summary. */
async function bare(sql: string): Promise<Record<string, unknown>[]> {
  const file = (table: string) => `read_parquet('${warehouse.path}/parquet/${table}/**/*.parquet')`;
  return withEngine({ memoryLimit: 256e6, temporary: temporaryFolder() }, async (engine) => {
    for (const table of ['snapshots', 'coverage', 'url_reports'])
      await engine.run(`create view ${table} as select * exclude (website, date) from ${file(table)}`);
    // What counts as the listing of a date: the last one that is complete.
    await engine.run(
      `create view listings as
       select distinct on (snapshot_date) snapshot_id, snapshot_date, snapshot_at
       from snapshots where listing_status = 'complete' order by snapshot_date, snapshot_at desc`,
    );
    return engine.rows(anyRow, sql);
  });
}

test('coverage_by_state', async () => {
  const counts = await bare(
    `select index_summary, coalesce(index_coverage_state, '(none)') as state, listings.snapshot_date, count(*) as pages
     from coverage join listings using (snapshot_id) group by all`,
  );
  const listings = await bare('select snapshot_date from listings order by snapshot_date');
  const dates = listings.map(({ snapshot_date }) => String(snapshot_date));
  const now = dates.at(-1) ?? '';
  for (const weeks of [1, 4]) {
    const rows = await analysisRows(reader, 'coverage_by_state', { weeks: String(weeks), since: dates[2] ?? '' });
    const shown = dates.filter((date) => Date.parse(reader.today) - Date.parse(date) < weeks * 7 * DAY_MS);
    const count = (state: unknown, summary: unknown, date: string | undefined) =>
      Number(
        counts.find(
          (one) => one['state'] === state && one['index_summary'] === summary && one['snapshot_date'] === date,
        )?.['pages'] ?? 0,
      );
    const states = new Set(
      counts
        .filter(({ snapshot_date: date }) => [now, dates[2], ...shown].includes(String(date)))
        .map(({ index_summary, state }) => `${index_summary} ${state}`),
    );
    expect(new Set(rows.map((row) => `${row['index_summary']} ${row['index_coverage_state']}`))).toEqual(states);
    const listed = counts
      .filter((one) => one['snapshot_date'] === now)
      .reduce((sum, one) => sum + Number(one['pages']), 0);
    expect(rows.reduce((sum, { pages }) => sum + Number(pages), 0)).toBe(listed);
    for (const { index_summary: summary, index_coverage_state: state, pages, share, pages_change, trend } of rows) {
      expect(pages).toBe(count(state, summary, now));
      expect(share).toBeCloseTo(Number(pages) / listed, 4);
      expect(pages_change).toBe(Number(pages) - count(state, summary, dates[2]));
      expect(trend).toEqual(shown.map((date) => count(state, summary, date)));
    }
  }
});
