import { writeHeader } from '../warehouse/journal/header.js';
import { commit, readBefore, stage } from './commit-snapshot.js';
import type { WebsiteRun } from './context.js';
import { fetchReports } from './fetch-reports.js';
import { fetchSearch } from './fetch-search.js';
import { plan } from './plan-reports.js';
import type { WebsiteReceipt } from './receipt.js';
import { walk } from './walk-listing.js';

/** One website's night, step by step, from the listing to the commit. Each step takes what the one before it gave. */
export async function syncWebsite(run: WebsiteRun): Promise<WebsiteReceipt> {
  try {
    const before = await readBefore(run);
    run.latest = before.latest;
    run.clock.check(run);
    await writeHeader(run.folder, run.header);
    const searched = await fetchSearch(run, before);
    const listed = await walk(run, before, searched);
    const planned = await plan(run, listed, before);
    const fetched = await fetchReports(run, planned, before);
    const staged = await stage(run, listed, before, fetched);
    return await commit(run, staged, fetched);
  } finally {
    run.journal.close();
  }
}
