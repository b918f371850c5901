import { createProgress } from '../src/observe/progress.js';
import { exitCodeOf } from '../src/run/receipt.js';
import { sync } from '../src/run/sync.js';
import type { Job } from '../src/schedule/job.js';

/** One sync of every configured website, which first finishes what an earlier one left. */
export const nightlySync: Job = {
  name: 'nightly-sync',
  description: 'fetch the listing and the reports of each website, and commit a snapshot',
  defaultCron: '0 2 * * *',
  async run({ config, version, log, signal }) {
    const { retry_for: retryFor } = config.sync;
    const progress = createProgress({
      stream: process.stderr,
      isTerminal: false,
      color: false,
      log: (line) => log.info(line),
    });
    const options = { config, version, log, signal, progress, websites: [], recoverOnly: false, retryFor };
    const receipt = await sync(options);
    const exitCode = exitCodeOf(receipt, config.quality.max_reject_ratio);
    const level = exitCode === 0 ? 'info' : 'warn';
    log[level]({ exit_code: exitCode, receipt }, exitCode === 1 ? 'a website got no snapshot' : 'synced');
    return exitCode;
  },
};
