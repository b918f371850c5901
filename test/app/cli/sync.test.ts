import { describe, expect } from 'vitest';
import { syncSummary } from '../../../src/app/cli/commands/sync.js';
import type { WebsiteReceipt } from '../../../src/sync/receipt.js';
import { saidIn } from '../../../src/sync/receipt.js';
import { byReason } from '../../../src/warehouse/journal/plan.js';
import { once, testAtLength } from '../../given/at-length.js';
import { runProcess } from '../../given/cli.js';
import { startSimulator } from '../../given/client-clock.js';
import { writeConfig } from '../../given/config-file.js';
import { temporaryFolder } from '../../given/folder.js';

const NO_REASONS = byReason(() => 0);

function website(id: string, rest: Partial<WebsiteReceipt>, reports: Partial<WebsiteReceipt['reports']> = {}) {
  return {
    website_id: id,
    website_name: id === 'w' ? 'example.com' : null,
    snapshot_id: 's',
    status: 'committed' as const,
    listing_status: 'complete' as const,
    reports_status: 'complete',
    pages: { expected: 100_000, listed: 100_000, rejected: 0 },
    reports: {
      planned: 460,
      fetched: 460,
      reused: 0,
      missing: 0,
      failed: 0,
      rejected: 0,
      unconfirmed: 0,
      by_reason: NO_REASONS,
      left: 0,
      ...reports,
    },
    requests: { sent: 470, throttled: 0, retried: 0 },
    utilisation: null,
    resumed: false,
    duration_ms: 61_000,
    ...rest,
  };
}

function summaryOf(websites: WebsiteReceipt[], width?: number): string {
  const receipt = { run_id: 'r', websites, followers: [] };
  return syncSummary(receipt, saidIn(receipt), width);
}

describe('the summary of a sync', () => {
  once('of nothing, and of what a terminal would obey', () => {
    expect(summaryOf([])).toBe('No interrupted run.\n\nDone: no website synced.\n');
    const hostile = summaryOf([website('\x1b[2Jw', { error: 'bad\x1b]0;x\x07' }, { left: 2 })]);
    expect(hostile).toContain('\\x1b[2Jw: 2 reports were left');
    expect(hostile).not.toContain('\x1b');
  });
});

testAtLength(
  'cron mails nothing after a good run, and one line of text for each cause after a failed one',
  async () => {
    const websites = ['w', 'v', 'u'];
    const simulator = await startSimulator({ websites: websites.map((id) => ({ id, pages: 3 })) });
    const sync = (token: string) => {
      const file = writeConfig(temporaryFolder(), { baseUrl: simulator.url, websites, token });
      return runProcess(['sync', '--log-level', 'warn', '--config', file]);
    };
    const [good, failed] = await Promise.all([sync('demo-token'), sync('another-token')]);
    expect([good.code, good.stderr]).toEqual([0, '']);
    expect(failed.code).toBe(1);
    expect(failed.stderr).toMatch(
      /^\[[\d:]+\] ERROR: w, v, u: the last run got no snapshot: the service answered 401 .*check api\.token .*\n$/,
    );
  },
);
