import { basename } from 'node:path';
import type { Job } from '../src/app/daemon/job.js';
import { notifiedRun } from '../src/app/notify/notify.js';
import { createProgress } from '../src/base/observe/progress.js';
import { HOUR_MS, timeOfId } from '../src/base/time.js';
import { runExitCode } from '../src/sync/receipt.js';
import { sync } from '../src/sync/sync.js';
import { unfinishedJournals } from '../src/warehouse/journal/folder.js';
import { lastActivity, RESUME_WITHIN_MS } from '../src/warehouse/journal/header.js';
import { listTableFiles } from '../src/warehouse/log/folder/layout.js';

/** An outage is waited for so long: after that, the day has begun, and somebody can look. */
const RETRY_FOR_MS = 6 * HOUR_MS;

/** One sync of every configured website, which first finishes what an earlier one left. */
export const nightlySync: Job = {
  writes: true,

  async run({ config, version, logger, signal }) {
    const progress = createProgress({
      stream: process.stderr,
      isTerminal: false,
      color: false,
      log: (line) => logger.info(line),
    });
    const options = {
      config,
      version,
      logger,
      signal,
      progress,
      websites: [],
      recoverOnly: false,
      retryFor: RETRY_FOR_MS,
    };
    const receipt = await notifiedRun({ config, logger }, (onLongOutage) => sync({ ...options, onLongOutage }));
    const exitCode = runExitCode(receipt);
    logger.info({ exit_code: exitCode, receipt }, 'synced');
    if (exitCode !== 0) logger.warn({ exit_code: exitCode }, 'the run needs attention');
    return exitCode;
  },

  // Also by hand; one that died is in no row, and is resumed at once.
  async lastBegun({ warehouse: { path } }) {
    const runs = (await listTableFiles(path, 'runs')).map((file) => timeOfId(basename(file, '.parquet')));
    return runs.length > 0 ? Math.max(...runs) : null;
  },

  async isUnfinished({ warehouse: { path } }) {
    const times = await Promise.all((await unfinishedJournals(path)).map(lastActivity));
    return times.some((time) => Date.now() - time <= RESUME_WITHIN_MS);
  },
};
