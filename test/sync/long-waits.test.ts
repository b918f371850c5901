import { expect, test } from 'vitest';
import { createLogger } from '../../src/base/observe/log.js';
import { type Receipt, runExitCode } from '../../src/sync/receipt.js';
import { sync } from '../given/client-clock.js';
import { atEnd, temporaryFolder } from '../given/folder.js';
import { pagesOf, type ScriptedWebsite, startService, windowOf } from '../given/service.js';
import { Clock, configFor, noFollowers } from '../given/warehouse.js';

const HOUR_MS = 3_600_000;
const YEAR_S = 365 * 86_400;
const TOKEN = 'tok-of-the-website-0123456789';
const PAGES = pagesOf('w', 30);

interface Ran {
  receipt: Receipt;
  /** Milliseconds that the run slept in all. */
  sleptMs: number;
  lines: Record<string, unknown>[];
  notes: string[];
}

/** A sync of a website that lists ten pages in each window. */
async function run(website: Partial<ScriptedWebsite>): Promise<Ran> {
  const { url: baseUrl } = await startService(
    { w: { listing: (window) => windowOf(PAGES, window), ...website } },
    atEnd,
    10,
  );
  const clock = new Clock();
  const [lines, notes]: [Record<string, unknown>[], string[]] = [[], []];
  const begunAt = clock.now;
  const config = configFor({ baseUrl, warehouse: `${temporaryFolder()}/warehouse` });
  const receipt = await sync({
    config: { ...config, websites: [{ id: 'w', token: TOKEN }] },
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

const throttled = (seconds: number) => ({ status: 429, body: '{}', headers: { 'retry-after': String(seconds) } });

test('a service that asks to wait for a year in the middle of the listing leaves it partial, at once', async () => {
  const { receipt, sleptMs } = await run({
    listing: (window) => (window.number < 3 ? windowOf(PAGES, window) : throttled(YEAR_S)),
  });
  expect(receipt.websites).toMatchObject([
    { status: 'committed', listing_status: 'partial', reports_status: 'failed', pages: { listed: 19 } },
  ]);
  expect(receipt.websites[0]?.error).toMatch(/asks to wait until \d{4}-.*Z \(365d\), longer than a run waits/);
  expect([runExitCode(receipt), sleptMs]).toEqual([3, 0]);
});

test('a wait of just under a day is waited for once, not again and again', async () => {
  const { receipt, sleptMs } = await run({ listing: () => throttled(23 * 3600) });
  expect(receipt.websites).toMatchObject([{ status: 'failed', requests: { sent: 2 } }]);
  expect(sleptMs).toBe(23 * HOUR_MS);
});

test('the log and the progress line show how long a wait is, until when, and for which key', async () => {
  const { receipt, lines, notes } = await run({
    listing: (window) => (window.number === 1 ? throttled(3600) : windowOf(PAGES, window)),
  });
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
  expect(JSON.stringify([lines, notes])).not.toContain(TOKEN);
});
