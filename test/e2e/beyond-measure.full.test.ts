import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../given/folder.js';
import { readTable } from '../given/parquet.js';
import { windowText } from '../given/poison.js';
import { startService } from '../given/service.js';
import { findingsOf } from '../given/verified.js';
import { syncWebsite } from '../given/warehouse.js';

const NIGHTS = ['2026-02-01T02:00:00.000Z', '2026-02-02T02:00:00.000Z'];

describe('records beyond all measure', () => {
  const deep = (levels: number) => `${'{"a":['.repeat(levels)}${']}'.repeat(levels)}`;
  const records: Record<string, { members: string; accepted: boolean }> = {
    'long-text': { members: `"index_coverage_state":"${'y'.repeat(1_500_000)}"`, accepted: true },
    'long-key': { members: `"${'k'.repeat(900_000)}":1`, accepted: true },
    quotes: { members: `"x":"${'\\"'.repeat(900_000)}"`, accepted: true },
    zeros: { members: `"x":"${'\\u0000'.repeat(300_000)}"`, accepted: true },
    wide: { members: `"x":"${'語'.repeat(1_900_000)}"`, accepted: true },
    numbers: { members: `"x":[${'1e20,'.repeat(90_000)}1]`, accepted: true },
    keys: { members: Array.from({ length: 3_000 }, (_, at) => `"k${at}":${at}`).join(), accepted: true },
    deep: { members: `"x":${deep(500)}`, accepted: true },
    flood: { members: `"x":"${'z'.repeat(2_100_000)}"`, accepted: false },
    proto: { members: '"__proto__":{"url":"x"}', accepted: true },
    'half-proto': { members: '"__proto__":"\\ud800"', accepted: false },
    // Its report is refused with a flood of words.
    denied: { members: '"x":1', accepted: true },
    abyss: { members: `"x":${deep(50_000)}`, accepted: false },
  };

  it('are committed or quarantined, and the next night too', async () => {
    const textOf = (url: string) => `{"url":"${url}",${records[url.slice('https://w.example/'.length)]?.members}}`;
    const urls = Object.keys(records).map((name) => `https://w.example/${name}`);
    // A field's name is the service's own word too, and it may be a flood.
    const flood = 'f'.repeat(34_000_000);
    let words = JSON.stringify({ error: flood, message: '', status: 403 });
    let window = windowText(urls.map(textOf)).replace('"skip":0', `"skip":0,"${flood}":1,"\\ud800":2`);
    const service = await startService({
      w: {
        listing: () => ({ body: window }),
        report: (url) => (url.endsWith('/denied') ? { status: 403, body: words } : { body: textOf(url) }),
      },
    });
    const warehouse = `${temporaryFolder()}/warehouse`;
    for (const at of NIGHTS) {
      const { receipt, lagging } = await syncWebsite({ baseUrl: service.url, warehouse, at });
      expect(receipt.error).toBe(undefined);
      expect(lagging).toEqual([]);
      expect([receipt.pages, receipt.reports]).toMatchObject([
        { listed: 13, rejected: 3 },
        { planned: 13, fetched: 9, failed: 1, rejected: 3 },
      ]);
      window = windowText(urls.map(textOf));
      words = '';
    }
    const accepted = Object.entries(records).filter(([, record]) => record.accepted);
    for (const table of ['coverage', 'url_reports'] as const) {
      const rows = new Map((await readTable(warehouse, table)).map((row) => [String(row['url']), row]));
      for (const [name] of accepted.filter(([each]) => table === 'coverage' || each !== 'denied')) {
        const { url, index_coverage_state: state, ...extra } = JSON.parse(textOf(`https://w.example/${name}`));
        const row = rows.get(url);
        expect(row?.['index_coverage_state'] === (state ?? null), name).toBe(true);
        expect(JSON.stringify(row?.['extra'] ?? {}) === JSON.stringify(extra), name).toBe(true);
      }
    }
    expect(await findingsOf(warehouse)).toEqual([]);
  });
});
