import { statusInputOf } from '../src/answers/status/status-input.js';
import type { Job } from '../src/app/daemon/job.js';
import { followersOf } from '../src/warehouse/copies/follow.js';
import { verifyExitCode } from '../src/warehouse/upkeep/verify/finding.js';
import { verifyWarehouse } from '../src/warehouse/upkeep/verify/verify.js';

/** Proves that the warehouse holds what was committed; each finding is a line in the log. Repairs nothing. */
export const verifyJob: Job = {
  async run({ config, logger }) {
    const { findings, ...counts } = await verifyWarehouse({ ...statusInputOf(config), followers: followersOf(config) });
    for (const { level, message, remedy } of findings) {
      logger[level === 'difference' ? 'error' : level === 'lag' ? 'warn' : 'info']({ remedy }, message);
    }
    logger.info({ ...counts, findings: findings.length }, 'verified');
    return verifyExitCode({ findings, ...counts });
  },
};
