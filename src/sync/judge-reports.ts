import { z } from 'zod';
import { count, counted, moment } from '../base/observe/format.js';
import { sql } from '../base/storage/sql.js';
import { totalOf } from '../warehouse/journal/reports.js';
import { viewPreviousState } from '../warehouse/log/stage/comparison.js';
import type { Before, FetchedReports, WebsiteRun } from './context.js';

/** Fewer failed reports are the fault of their pages, whatever their share. */
const LEAST_FAILED = 3;
/** Above this share, a 404 is not the answer of single pages. */
const NEARLY_ALL = 0.9;

const failuresRow = z.object({ unknown_pages: z.int(), since: z.string(), message: z.string().nullable() });

/** What was fetched, with the status `failed` if too many reports failed, whatever ended the fetching. */
export async function judgeReports(run: WebsiteRun, before: Before, fetched: FetchedReports): Promise<FetchedReports> {
  const { counts, status } = fetched;
  if (status === 'failed' || status === 'interrupted') return fetched;
  const reason = await whyFailed(run, before, counts);
  return reason === null ? fetched : { ...fetched, status: 'failed', message: reason };
}

async function whyFailed(run: WebsiteRun, before: Before, counts: FetchedReports['counts']): Promise<string | null> {
  const { failed, missing } = counts;
  const all = totalOf(counts);
  const haveFailed = failed >= LEAST_FAILED && failed > run.config.quality.max_failed_ratio * all;
  if (!haveFailed && (missing < LEAST_FAILED || missing <= NEARLY_ALL * all)) return null;
  const { unknown_pages: unknown, since, message } = await failuresOf(run, before);
  if (haveFailed) {
    const of = `${count(failed)} of ${counted(all, 'report')} failed since ${moment(since)}`;
    return `${of}, more than quality.max_failed_ratio allows; most often: ${message}`;
  }
  // Pages that left the listing are asked for to confirm that they are gone.
  const listed = all - missing + unknown;
  if (unknown < LEAST_FAILED || unknown <= NEARLY_ALL * listed) return null;
  const of = `${count(unknown)} of ${count(listed)} reports of listed pages were answered with 404`;
  return `${of} since ${moment(since)}: check api.base_url, and whether a proxy answers instead of the service`;
}

async function failuresOf(run: WebsiteRun, { state }: Before): Promise<z.infer<typeof failuresRow>> {
  return run.journal.use(null, async (engine) => {
    await viewPreviousState(engine, run.warehouse, state);
    const [row] = await engine.rows(failuresRow, sql('sync/stage/report_failures_counted'));
    return failuresRow.parse(row);
  });
}
