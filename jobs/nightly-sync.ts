import { basename } from 'node:path';
import { unfinishedJournals } from '../src/journal/folder.js';
import { lastActivity } from '../src/journal/header.js';
import { notifiedRun } from '../src/notify/notify.js';
import { createProgress } from '../src/observe/progress.js';
import { exitCodeOf } from '../src/run/receipt.js';
import { sync } from '../src/run/sync.js';
import type { Job } from '../src/schedule/job.js';
import { timeOfId } from '../src/time.js';
import { listTableFiles } from '../src/warehouse/layout.js';

/** One sync of every configured website, which first finishes what an earlier one left. */
export const nightlySync: Job = {
  async run({ config, version, log, signal }) {
    const { retry_for: retryFor } = config.sync;
    const progress = createProgress({
      stream: process.stderr,
      isTerminal: false,
      color: false,
      log: (line) => log.info(line),
    });
    const options = { config, version, log, signal, progress, websites: [], recoverOnly: false, retryFor };
    const receipt = await notifiedRun({ config, log }, (onLongOutage) => sync({ ...options, onLongOutage }));
    const exitCode = exitCodeOf(receipt, config.quality.max_reject_ratio);
    const level = exitCode === 0 ? 'info' : 'warn';
    log[level]({ exit_code: exitCode, receipt }, exitCode === 1 ? 'a website got no snapshot' : 'synced');
    return exitCode;
  },

  // Also by hand; one that died is in no row, and is resumed at once.
  async lastBegun({ warehouse: { path } }) {
    const runs = (await listTableFiles(path, 'runs')).map((file) => timeOfId(basename(file, '.parquet')));
    return runs.length > 0 ? Math.max(...runs) : null;
  },

  async isUnfinished({ warehouse: { path }, sync: { resume_within } }) {
    const times = await Promise.all((await unfinishedJournals(path)).map(lastActivity));
    return times.some((time) => Date.now() - time <= resume_within);
  },
};
