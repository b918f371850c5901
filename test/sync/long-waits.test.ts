import { describe, expect, test } from 'vitest';
import type { Simulator } from '../../src/app/demo/simulator/simulator.js';
import { createLogger } from '../../src/base/observe/log.js';
import { type Receipt, runExitCode } from '../../src/sync/receipt.js';
import { casesAtLength, once, testAtLength } from '../given/at-length.js';
import { startSimulator, sync } from '../given/client-clock.js';
import { atEnd, temporaryFolder } from '../given/folder.js';
import { pagesOf, type ScriptedWebsite, startService, windowOf } from '../given/service.js';
import { Clock, configFor, noFollowers } from '../given/warehouse.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const YEAR_S = 365 * 86_400;
const OTHER_TOKEN = 'tok-of-the-other-one-0123456789';

interface Ran {
  receipt: Receipt;
  /** Milliseconds that the run slept in all. */
  sleptMs: number;
  lines: Record<string, unknown>[];
  notes: string[];
}

async function run(baseUrl: string, { api = {}, ownToken = false } = {}): Promise<Ran> {
  const clock = new Clock();
  const [lines, notes]: [Record<string, unknown>[], string[]] = [[], []];
  const begunAt = clock.now;
  const config = configFor({ baseUrl, warehouse: `${temporaryFolder()}/warehouse`, sections: { api } });
  const receipt = await sync({
    config: { ...config, websites: [{ id: 'w', ...(ownToken ? { token: OTHER_TOKEN } : {}) }] },
    logger: createLogger({ destination: { write: (line) => lines.push(JSON.parse(line)) } }),
    progress: {
      start: (label) => notes.push(`start ${label}`),
      advance: () => {},
      setTotal: () => {},
      note: (text) => notes.push(text),
      finish: () => {},
      logStream: { write: () => {}, isTTY: true },
    },
    effects: { ...clock.effects, follow: noFollowers },
  });
  return { receipt, sleptMs: clock.now - begunAt, lines, notes };
}

async function simulated(): Promise<Simulator> {
  const simulator = await startSimulator({ seed: 5, websites: [{ id: 'w', pages: 30 }], retryAfterS: YEAR_S });
  return simulator;
}

async function odd(website: ScriptedWebsite, most?: number): Promise<string> {
  const service = await startService({ w: website }, atEnd, most);
  return service.url;
}

describe('a service that asks to wait for a year', () => {
  once('ends the listing of a website as failed, at once', async () => {
    const simulator = await simulated();
    simulator.setFaults({ '429': 1 }, ['listing']);
    const { receipt, sleptMs } = await run(simulator.url, { api: { token: 'demo-token' } });
    expect(receipt.websites).toMatchObject([{ status: 'failed', requests: { sent: 1, throttled: 1 } }]);
    expect(receipt.websites[0]?.error).toMatch(/asks to wait until \d{4}-.*Z \(365d\), longer than a run waits/);
    expect([runExitCode(receipt), sleptMs]).toEqual([1, 0]);
  });

  const WAITS: [name: string, headers: Record<string, string>][] = [
    ['Retry-After', { 'retry-after': String(YEAR_S) }],
    ['the reset', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(YEAR_S) }],
    ['a number without an end', { 'retry-after': '9'.repeat(400) }],
  ];
  test.each(casesAtLength(WAITS, 'Retry-After'))('by %s commits what is listed as partial', async (_, headers) => {
    const pages = pagesOf('w', 30);
    const listing: ScriptedWebsite['listing'] = (window) =>
      window.number < 3 ? windowOf(pages, window) : { status: 429, body: '{}', headers };
    const { receipt, sleptMs } = await run(await odd({ listing }, 10));
    expect(receipt.websites).toMatchObject([
      { status: 'committed', listing_status: 'partial', reports_status: 'failed', pages: { listed: 19 } },
    ]);
    expect([runExitCode(receipt), sleptMs]).toEqual([3, 0]);
  });

  once('in the middle of the reports commits the listing and the reports that there are', async () => {
    const simulator = await simulated();
    simulator.setFaults({ '429': 0.2 }, ['report']);
    const { receipt, sleptMs } = await run(simulator.url, { api: { token: 'demo-token' } });
    const [website] = receipt.websites;
    expect(website).toMatchObject({ status: 'committed', listing_status: 'complete', reports_status: 'failed' });
    // Pages that were not asked for are no failures: they stay wanted.
    expect(website?.reports.failed).toBe(0);
    expect(website?.reports.left).toBeGreaterThan(0);
    expect(website?.error).toContain('longer than a run waits');
    expect([runExitCode(receipt), sleptMs]).toEqual([3, 0]);
  });

  once('because it is in trouble (503) is not waited for either', async () => {
    const url = await odd({ listing: () => ({ status: 503, headers: { 'retry-after': String(YEAR_S) } }) });
    const { receipt, sleptMs } = await run(url);
    expect(receipt.websites).toMatchObject([{ status: 'failed', requests: { sent: 1 } }]);
    expect(sleptMs).toBe(0);
  });
});

describe('waits of just under a day', () => {
  const headers = { 'retry-after': String(23 * 3600) };

  once('are waited for once, not again and again', async () => {
    const url = await odd({ listing: () => ({ status: 429, headers }) });
    const { receipt, sleptMs } = await run(url);
    expect(receipt.websites).toMatchObject([{ status: 'failed', requests: { sent: 2 } }]);
    expect(sleptMs).toBe(23 * HOUR_MS);
  });

  testAtLength('end what waits for a reset that is always far away, too', async () => {
    const pages = pagesOf('w', 3_000);
    const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(YEAR_S) };
    const url = await odd({ listing: (window) => ({ ...windowOf(pages, window), headers }) }, 3);
    const { receipt, sleptMs } = await run(url);
    expect(receipt.websites).toMatchObject([{ status: 'committed', listing_status: 'partial' }]);
    expect(sleptMs).toBeLessThan(2 * DAY_MS);
  });

  testAtLength('of a minute for each answer go on for as long as the listing takes', async () => {
    const pages = pagesOf('w', 3_200);
    const minute = { 'retry-after': '60' };
    const listing: ScriptedWebsite['listing'] = (window) =>
      window.number % 2 ? windowOf(pages, window) : { status: 429, headers: minute };
    const { receipt, sleptMs } = await run(await odd({ listing }, 3));
    expect(receipt.websites).toMatchObject([{ listing_status: 'complete', reports_status: 'deadline' }]);
    expect(sleptMs).toBeGreaterThan(DAY_MS);
  });
});

once('the log and the progress line show how long a wait is, until when, and for which key', async () => {
  const headers = { 'retry-after': '3600' };
  const pages = pagesOf('w', 30);
  const url = await odd({
    listing: (window) => (window.number === 1 ? { status: 429, headers } : windowOf(pages, window)),
  });
  const { receipt, lines, notes } = await run(url, { ownToken: true });
  expect(receipt.websites).toMatchObject([{ status: 'committed', listing_status: 'complete' }]);
  const [waitLine, ...more] = lines.filter(({ wait_ms }) => wait_ms !== undefined);
  expect(more).toEqual([]);
  expect(waitLine).toMatchObject({ key: 'websites[0].token', wait_ms: HOUR_MS, reason: 'throttled' });
  const until = String(waitLine?.['until']);
  expect(waitLine?.['msg']).toContain(`websites[0].token waits 1h, until ${until}`);
  const moment = `${until.slice(0, 16).replace('T', ' ')} UTC`;
  const note = `waiting for the service (it pauses websites[0].token) until ${moment}`;
  // Taken away with the next answer.
  expect(notes.slice(0, 3)).toEqual(['start pages', note, '']);
  expect(JSON.stringify([lines, notes])).not.toContain(OTHER_TOKEN);
});
