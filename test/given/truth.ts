import type { World } from '../../src/app/demo/simulator/world.js';
import { coverageEntrySchema } from '../../src/source/contract/coverage.js';
import { urlReportSchema } from '../../src/source/contract/report.js';
import { pagesOf } from './pages-of.js';
import { type Row, readTable } from './parquet.js';
import { isTime } from './poison.js';

const COVERAGE_FIELDS = Object.keys(coverageEntrySchema.shape);
const REPORT_FIELDS = Object.keys(urlReportSchema.shape);

/** The world as the tables have it: what is omitted is null, times are instants. */
export interface Truth {
  coverage: Map<string, Row>;
  reports: Map<string, Row>;
}

/** What the world holds of a website now. */
export function truthOf(world: World, websiteId: string): Truth {
  const truth: Truth = { coverage: new Map(), reports: new Map() };
  for (const { coverage, report } of pagesOf(world, websiteId)) {
    truth.coverage.set(coverage.url, {
      ...pick(coverage, COVERAGE_FIELDS),
      canonicals_match_present: Object.hasOwn(coverage, 'canonicals_match'),
    });
    truth.reports.set(report.url, pick(report, REPORT_FIELDS));
  }
  return truth;
}

function pick(record: Row, fields: string[]): Row {
  return Object.fromEntries(fields.map((field) => [field, plain(record[field] ?? null, field)]));
}

/** One form for each type, whatever the reader makes of it. */
function plain(value: unknown, field: string): unknown {
  if (value === null || value === undefined) return null;
  if (isTime(field)) return (value instanceof Date ? value : new Date(String(value))).toISOString();
  if (typeof value === 'bigint') return Number(value);
  return Array.isArray(value) ? [...value] : value;
}

/** What rows of `coverage` and `url_reports` hold, whoever read them. A page that stands there twice is an error. */
function asTruth(coverage: Row[], reports: Row[]): Truth {
  const fields = [...COVERAGE_FIELDS, 'canonicals_match_present'];
  const truth = {
    coverage: new Map(coverage.map((row) => [String(row['url']), pick(row, fields)])),
    reports: new Map(reports.map((row) => [String(row['url']), pick(row, REPORT_FIELDS)])),
  };
  if (truth.coverage.size < coverage.length || truth.reports.size < reports.length)
    throw new Error('a page stands twice');
  return truth;
}

/** What the Parquet files of a website hold, by a reader that did not write them. */
export async function byHyparquet(warehouse: string, websiteId: string, snapshotId?: string): Promise<Truth> {
  const of = (rows: Row[]) =>
    rows.filter(
      ({ website_id, snapshot_id }) => website_id === websiteId && (!snapshotId || snapshot_id === snapshotId),
    );
  return asTruth(of(await readTable(warehouse, 'coverage')), of(await readTable(warehouse, 'url_reports')));
}
