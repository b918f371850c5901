import type { Reader } from '../../../src/answers/query/reader.js';
import { reportPage } from '../../../src/answers/report/page.js';
import { type Report, type ReportOptions, readReport } from '../../../src/answers/report/report.js';
import { atFileEnd } from '../../given/folder.js';
import type { GivenPage } from '../../given/service.js';
import { type BuiltWarehouse, buildWarehouse, type Night, sharedWarehouse } from '../../given/warehouse.js';
import { openReader } from '../query/given.js';

const MADE_AT = '2025-04-01T08:30:00.000Z';

export function indexed(url: string, engine = url): GivenPage {
  return {
    url,
    entry: {
      index_summary: 'Indexed',
      index_coverage_state: 'Submitted and indexed',
      searchengine_selected_canonical: engine,
      user_selected_canonical: url,
      last_crawl_time: '2025-02-20T12:00:00Z',
    },
  };
}

export function out(url: string, state = 'Crawled - currently not indexed'): GivenPage {
  return { url, entry: { index_summary: 'Not Indexed', index_coverage_state: state } };
}

/** An entry that breaks the contract. */
export function broken(url: string): GivenPage {
  return { url, entry: JSON.parse('{"index_summary": 5}') };
}

export function givenWarehouse(nights: Night[]): Readonly<BuiltWarehouse> {
  return sharedWarehouse(() => buildWarehouse(nights));
}

const readers = new Map<string, Promise<Reader>>();

/** A report, by the only reader that a file of tests opens of its warehouse. */
export async function reportOf(
  { path }: { path: string },
  options: Pick<ReportOptions, 'website' | 'since' | 'until'> = {},
): Promise<{ report: Report; page: string }> {
  const opened = readers.get(path) ?? openReader(path, atFileEnd);
  readers.set(path, opened);
  const report = await readReport(await opened, { ...options, version: 'test', now: Date.parse(MADE_AT) });
  return { report, page: reportPage(report) };
}
