import type { Job } from '../src/app/daemon/job.js';
import { maintain, maintainExitCode } from '../src/warehouse/removal/maintain.js';

/** Removes what retention says is too old. */
export const maintainJob: Job = {
  writes: true,

  async run({ config, logger }) {
    const receipt = await maintain({ config, dryRun: false, logger });
    logger.info({ receipt }, receipt.configured ? 'maintained' : 'no retention configured; everything is kept');
    return maintainExitCode(receipt);
  },
};
