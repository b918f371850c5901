import { expect, test } from 'vitest';
import { z } from 'zod';
import { withEngine } from '../../src/base/storage/engine.js';
import { coverageEntrySchema } from '../../src/source/contract/coverage.js';
import { urlReportSchema } from '../../src/source/contract/report.js';
import { listTableFiles } from '../../src/warehouse/log/folder/layout.js';
import { tableQuery } from '../../src/warehouse/log/folder/prepare.js';
import { temporaryFolder } from '../given/folder.js';
import { type Row, readTable } from '../given/parquet.js';
import { holdsHalfAPair, isTime, type Members, poisonedMembers, recordText, windowText } from '../given/poison.js';
import { type ScriptedWebsite, startService } from '../given/service.js';
import { findingsOf } from '../given/verified.js';
import { syncWebsite } from '../given/warehouse.js';

const COVERAGE_FIELDS = Object.keys(coverageEntrySchema.shape);
const REPORT_FIELDS = Object.keys(urlReportSchema.shape);
const NIGHTS = ['2026-02-01T02:00:00.000Z', '2026-02-02T02:00:00.000Z'];
/** Twins that differ only in Unicode's normal form, letter case or an escape, and what has to be encoded with care. */
const SUFFIXES = ['', '\u00e9', 'e\u0301', '%C3%A9', 'E', 'e', '?a="b"&c=\'', '#x', '\u2028', '😀', '%', '{*}'];

function urlAt(at: number): string {
  return `https://w.example/${Math.floor(at / SUFFIXES.length)}/${SUFFIXES[at % SUFFIXES.length]}`;
}

/** What the service says of each page on one night: the text of its entry and of its report. */
class Truth {
  readonly entries = new Map<string, { text: string; good: boolean }>();
  readonly reports = new Map<string, { text: string; good: boolean }>();

  constructor(night: number) {
    const [entries, reports] = [poisonedMembers(COVERAGE_FIELDS), poisonedMembers(REPORT_FIELDS)];
    const of = (all: Members[], at: number) => all[(at + night) % all.length] ?? { members: [], good: true };
    for (let at = 0; at < Math.max(entries.length, reports.length); at++) {
      const [url, entry, report] = [urlAt(at), of(entries, at), of(reports, at)];
      this.entries.set(url, judged(recordText(entry, url, at + night), entry.good));
      this.reports.set(url, judged(recordText(report, url, at + night + 1), report.good));
    }
  }
}

function judged(text: string, good: boolean) {
  return { text, good: good && !holdsHalfAPair(text) };
}

/** The rows of the newest snapshot, as DuckDB reads them: times in microseconds, JSON as text. */
async function byDuckdb(warehouse: string, table: 'coverage' | 'url_reports', snapshotId: string): Promise<Row[]> {
  const times = (table === 'coverage' ? COVERAGE_FIELDS : REPORT_FIELDS).filter(isTime);
  const columns = times.map((time) => `epoch_us(${time})::varchar as ${time}`).join(', ');
  const query = tableQuery(table, await listTableFiles(warehouse, table));
  const options = { memoryLimit: 256e6, temporary: temporaryFolder() };
  return withEngine(options, (engine) =>
    engine.rows(
      z.record(z.string(), z.unknown()),
      `select * replace (${columns}), extra::varchar as extra_text from (${query}) where snapshot_id = $id`,
      { id: snapshotId },
    ),
  );
}

function expectRow(row: Row, text: string, fields: string[]): void {
  const meant: Record<string, unknown> = JSON.parse(text);
  const known = fields.map((field) => [field, plain(meant[field], field)]);
  expect(Object.fromEntries(fields.map((field) => [field, row[field] ?? null]))).toEqual(Object.fromEntries(known));
  const unknown = Object.entries(meant).filter(([field]) => !fields.includes(field));
  // Through JSON once more: an infinite number is null there.
  const extra = unknown.length > 0 ? JSON.stringify(Object.fromEntries(unknown)) : null;
  expect(row['extra_text'] ?? null).toBe(extra);
}

function plain(value: unknown, field: string): unknown {
  if (value === undefined || value === null) return null;
  if (isTime(field) && typeof value === 'string') return microseconds(value);
  return value === 0 ? 0 : value;
}

function microseconds(time: string): string {
  const fraction = (/\.(\d+)Z$/.exec(time)?.[1] ?? '').padEnd(6, '0');
  return String(BigInt(Date.parse(time.replace(/\.\d+Z$/, 'Z'))) * 1000n + BigInt(fraction));
}

/** Every page is in exactly one of the tables, and in the right one, with what the service said. */
function expectAccounted(truth: Truth['entries'], accepted: Row[], refused: Row[], fields: string[]): void {
  const rows = new Map(accepted.map((row) => [String(row['url']), row]));
  expect(rows.size).toBe(accepted.length);
  expect([...rows.keys(), ...refused.map(({ url }) => String(url))].sort()).toEqual([...truth.keys()].sort());
  for (const [url, { text, good }] of truth) {
    const row = rows.get(url);
    expect({ text, accepted: row !== undefined }).toEqual({ text, accepted: good });
    if (row) expectRow(row, text, fields);
  }
}

test('records that the contract accepts or nearly accepts are committed exactly or quarantined, and block nothing', async () => {
  let truth = new Truth(0);
  const website: ScriptedWebsite = {
    listing: () => ({ body: windowText([...truth.entries.values()].map(({ text }) => text)) }),
    report: (url) => ({ body: truth.reports.get(url)?.text ?? '{}' }),
  };
  const service = await startService({ w: website });
  const warehouse = `${temporaryFolder()}/warehouse`;
  for (const [night, at] of NIGHTS.entries()) {
    truth = new Truth(night);
    const { receipt, lagging } = await syncWebsite({ baseUrl: service.url, warehouse, at });
    expect(receipt.error).toBe(undefined);
    expect(receipt).toMatchObject({ status: 'committed', listing_status: 'complete', reports_status: 'complete' });
    expect(lagging).toEqual([]);
    const snapshotId = receipt.snapshot_id ?? '';
    const refused = (await readTable(warehouse, 'rejected_records')).filter((row) => row['snapshot_id'] === snapshotId);
    const refusedAs = (source: string) => refused.filter((row) => row['source'] === source);
    const coverage = await byDuckdb(warehouse, 'coverage', snapshotId);
    expectAccounted(truth.entries, coverage, refusedAs('coverage'), COVERAGE_FIELDS);
    // Every page was listed, so the report of every one was planned.
    const reports = await byDuckdb(warehouse, 'url_reports', snapshotId);
    expectAccounted(truth.reports, reports, refusedAs('url_report'), REPORT_FIELDS);
  }
  for (const table of ['coverage', 'url_reports', 'page_changes', 'drift_observations'] as const) {
    expect((await readTable(warehouse, table)).length).toBeGreaterThan(0);
  }
  expect(await findingsOf(warehouse)).toEqual([]);
});
