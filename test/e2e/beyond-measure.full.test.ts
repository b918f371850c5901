import { expect, test } from 'vitest';
import { temporaryFolder } from '../given/folder.js';
import { readTable } from '../given/parquet.js';
import { windowText } from '../given/poison.js';
import { startService } from '../given/service.js';
import { syncWebsite } from '../given/warehouse.js';

const deep = (levels: number) => `${'{"a":['.repeat(levels)}${']}'.repeat(levels)}`;
const ACCEPTED: Record<string, string> = {
  'long-text': `"index_coverage_state":"${'y'.repeat(1_500_000)}"`,
  'long-key': `"${'k'.repeat(900_000)}":1`,
  quotes: `"x":"${'\\"'.repeat(900_000)}"`,
  wide: `"x":"${'語'.repeat(1_900_000)}"`,
  keys: Array.from({ length: 3_000 }, (_, at) => `"k${at}":${at}`).join(),
  deep: `"x":${deep(500)}`,
};
const REFUSED: Record<string, string> = { flood: `"x":"${'z'.repeat(2_100_000)}"`, abyss: `"x":${deep(50_000)}` };

test('records beyond all measure are committed as they are or quarantined, and block nothing', async () => {
  const members = { ...ACCEPTED, ...REFUSED };
  const textOf = (url: string) => `{"url":"${url}",${members[url.slice('https://w.example/'.length)]}}`;
  const window = windowText(Object.keys(members).map((name) => textOf(`https://w.example/${name}`)));
  // A field's name is the service's own word too, and it may be a flood.
  const body = window.replace('"skip":0', `"skip":0,"${'f'.repeat(34_000_000)}":1,"\\ud800":2`);
  const report = (url: string) => ({ body: textOf(url) });
  const service = await startService({ w: { listing: () => ({ body }), report } });
  const warehouse = `${temporaryFolder()}/warehouse`;
  const at = '2026-02-01T02:00:00.000Z';
  const { receipt, lagging } = await syncWebsite({ baseUrl: service.url, warehouse, at });
  expect([receipt.error, lagging]).toEqual([undefined, []]);
  expect(receipt).toMatchObject({ pages: { listed: 8, rejected: 2 }, reports: { fetched: 6, rejected: 2 } });
  for (const table of ['coverage', 'url_reports'] as const) {
    for (const row of await readTable(warehouse, table)) {
      const { url, index_coverage_state = null, ...extra } = JSON.parse(textOf(String(row['url'])));
      expect((row['index_coverage_state'] ?? null) === index_coverage_state, url).toBe(true);
      expect(JSON.stringify(row['extra'] ?? {}) === JSON.stringify(extra), url).toBe(true);
    }
  }
});
