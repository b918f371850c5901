import { expect, test } from 'vitest';
import { z } from 'zod';
import { createLogger } from '../../src/base/observe/log.js';
import { HOUR_MS, MINUTE_MS } from '../../src/base/time.js';
import { SourceError } from '../../src/source/errors.js';
import { type LongOutage, Outage } from '../../src/sync/outage.js';
import type { SyncOptions } from '../../src/sync/sync.js';
import { readRunFile } from '../../src/warehouse/journal/run-file.js';
import { sync } from '../given/client-clock.js';
import { atEnd, temporaryFolder } from '../given/folder.js';
import { type Answer, pagesOf, startService, windowOf } from '../given/service.js';
import { Clock, configFor, givenSchemas, noFollowers } from '../given/warehouse.js';

const PAGES = pagesOf('w', 30);
const COMPLETE = { status: 'committed', listing_status: 'complete', reports_status: 'complete' };

interface Given {
  /** How many requests the service answers before it goes down. */
  after: number;
  forMs?: number;
  /** What it answers then. */
  status?: number;
  /** Pages whose reports are never to be had. */
  poison?: string[];
  /** Whether it still answers listings then. */
  isOfReports?: boolean;
}

/** A website of 30 pages behind a service that goes down once, on a clock that only waits move. */
async function given({ after, forMs = 0, status = 503, poison = [], isOfReports = false }: Given) {
  const clock = new Clock();
  const warehouse = `${temporaryFolder()}/warehouse`;
  const lines: string[] = [];
  /** How often each page was answered, and how often any was asked for. */
  const fetched = new Map<string, number>();
  const asked = { reports: 0, probes: 0 };
  let answered = 0;
  let downSince: number | null = null;
  const answering = (answer: () => Answer): Answer => {
    if (answered >= after) {
      downSince ??= clock.now;
      if (clock.now - downSince < forMs) return { status, body: '{}' };
    }
    answered++;
    return answer();
  };
  const report = (url: string): Answer => {
    if (poison.includes(url)) return { status: 503, body: '{}' };
    fetched.set(url, (fetched.get(url) ?? 0) + 1);
    return { body: JSON.stringify({ url, index_summary: 'Indexed' }) };
  };
  const website = {
    listing: (window: Parameters<typeof windowOf>[1]) => {
      if (window.limit === 1) asked.probes++;
      return isOfReports ? windowOf(PAGES, window) : answering(() => windowOf(PAGES, window));
    },
    report: (url: string) => {
      asked.reports++;
      return answering(() => report(url));
    },
  };
  const { url: baseUrl } = await startService({ w: website }, atEnd, 10);
  await givenSchemas(warehouse);
  return {
    clock,
    asked,
    fetched,
    runFile: `${warehouse}/run.json`,
    /** What the log says of outages. */
    messages: () => lines.filter((text) => text.includes('outage')),
    /** @param wait called before each wait of a minute or more */
    sync: (retryFor: number, wait: (ms: number) => unknown = () => {}, more: Partial<SyncOptions> = {}) => {
      const sleep: typeof clock.effects.sleep = async (ms, signal) => {
        if (ms >= MINUTE_MS) await wait(ms);
        return clock.effects.sleep(ms, signal);
      };
      return sync({
        config: { ...configFor({ baseUrl, warehouse }), websites: [{ id: 'w' }] },
        logger: createLogger({ destination: { write: (line) => lines.push(JSON.parse(line).msg) } }),
        retryFor,
        effects: { ...clock.effects, follow: noFollowers, sleep, ...more.effects },
        ...(more.onLongOutage ? { onLongOutage: more.onLongOutage } : {}),
      });
    },
  };
}

test('a run goes on after an outage; meanwhile others see what is waited for, and are notified once, and of its end', async () => {
  const { sync, clock, fetched, messages, runFile } = await given({ after: 15, forMs: 100 * MINUTE_MS });
  const [begunAt, long, waits, seen]: [number, LongOutage[], number[], unknown[]] = [clock.now, [], [], []];
  const wait = async (ms: number) => {
    waits.push(Math.round(ms / MINUTE_MS));
    const left = await readRunFile(runFile);
    if (left?.waiting) seen.push(left.waiting);
  };
  const { websites } = await sync(6 * HOUR_MS, wait, { onLongOutage: async (outage) => void long.push(outage) });
  expect(websites).toMatchObject([{ ...COMPLETE, pages: { listed: 30 }, reports: { fetched: 30, failed: 0 } }]);
  expect([...fetched.values()]).toEqual(PAGES.map(() => 1));
  expect(messages()).toEqual([expect.stringMatching(/^outage: .*503/), 'the outage of the service is over']);
  // It is reported after an hour, in the middle of a wait.
  expect(waits).toEqual([5, 10, 20, 25, 5, 30, 30]);
  expect(seen[0]).toMatchObject({ for: 'the service', error: expect.stringContaining('503') });
  const times = z.array(z.object({ since: z.string(), until: z.string() })).parse(seen);
  expect(new Set(times.map(({ since }) => since)).size).toBe(1);
  expect(new Set(times.map(({ until }) => until)).size).toBeGreaterThanOrEqual(5);
  expect(await readRunFile(runFile)).toMatchObject({ waiting: null, stopped: null, failed: {} });
  expect(long).toMatchObject([{ of: 'the service', overAt: null }, { of: 'the service' }]);
  const [first, over] = long;
  expect((over?.overAt ?? 0) - (first?.since ?? 0)).toBeGreaterThan(100 * MINUTE_MS);
  expect(first?.since).toBeGreaterThanOrEqual(begunAt);
});

test('a run asks again for reports that an outage throttled', async () => {
  const { sync, fetched } = await given({ after: 15, forMs: 40 * MINUTE_MS, status: 429 });
  expect((await sync(6 * HOUR_MS)).websites).toMatchObject([{ ...COMPLETE, reports: { fetched: 30, failed: 0 } }]);
  expect([...fetched.values()]).toEqual(PAGES.map(() => 1));
});

test('with no time left to wait, the run spends no further requests and commits what it has', async () => {
  const { sync, asked } = await given({ after: 15, forMs: 2 * HOUR_MS });
  const [website] = (await sync(HOUR_MS)).websites;
  const end = { status: 'committed', listing_status: 'complete', reports_status: 'failed' };
  expect(website).toMatchObject({ ...end, reports: { failed: 0 } });
  expect(website?.error).toMatch(/^the reports stopped, because none was answered since .* UTC: .*503/);
  expect(website?.reports.fetched).toBeLessThan(30);
  // Eight side by side, five times each, and a probe; then a report after each of four waits.
  expect(asked.reports + asked.probes).toBeLessThanOrEqual(15 + 5 * 8 + 10 + 10);
});

test('bad pages at the start of a first run are no outage', async () => {
  const { sync, asked, messages } = await given({ after: 99, poison: PAGES.slice(0, 10) });
  // A third of the pages is more than `reports.max_failed_ratio` allows.
  const end = { ...COMPLETE, reports_status: 'failed', reports: { fetched: 20, failed: 10 } };
  expect((await sync(6 * HOUR_MS)).websites).toMatchObject([end]);
  expect(messages()).toEqual([]);
  // One request answers for all that failed side by side.
  expect(asked.reports + asked.probes).toBeLessThanOrEqual(20 + 5 * 10 + 4);
});

test('where nothing but reports fails, one of them is asked for after each wait', async () => {
  const { sync, asked, messages } = await given({ after: 5, forMs: 100 * MINUTE_MS, isOfReports: true });
  const counts: number[] = [];
  const { websites } = await sync(6 * HOUR_MS, () => counts.push(asked.reports));
  expect(websites).toMatchObject([{ ...COMPLETE, reports: { fetched: 30, failed: 0 } }]);
  expect(messages()).toEqual([expect.stringMatching(/^outage: .*503/), 'the outage of the reports is over']);
  const [first = 0] = counts;
  expect(counts).toEqual([0, 1, 2, 3, 4, 5].map((waits) => first + waits));
  expect(asked.probes).toBe(1);
});

test('a full disk is waited for; one that fills up ends the fetching, and the next run goes on', async () => {
  const { sync, clock, asked, messages } = await given({ after: 99 });
  const begunAt = clock.now;
  // The disk is looked at every two seconds; the clock of this run is that fast.
  const now = () => clock.now + asked.reports * 3000;
  const isFull = () => clock.now - begunAt < HOUR_MS || asked.reports > 10;
  const diskOf = async () => ({ free: isFull() ? 0 : 1e12, reserve: 1e9 });
  const effects = { ...clock.effects, follow: noFollowers, now, diskOf };
  const [website] = (await sync(2 * HOUR_MS, undefined, { effects })).websites;
  expect(messages()).toEqual([expect.stringMatching(/^outage: .*free/), 'the outage of the disk is over']);
  const end = { status: 'committed', listing_status: 'complete', reports_status: 'interrupted' };
  expect(website).toMatchObject({ ...end, error: expect.stringContaining('that a run leaves free') });
  const fetched = website?.reports.fetched ?? 0;
  expect([fetched > 0, fetched < 30, website?.reports.planned]).toEqual([true, true, fetched]);
  clock.now += HOUR_MS;
  expect((await sync(0)).websites).toMatchObject([{ ...COMPLETE, resumed: false }]);
});

test('an outage that stops 200 websites is one line a wait, one at warn, one notice and its end', async () => {
  const lines: Record<string, unknown>[] = [];
  const long: LongOutage[] = [];
  const waiting: [at: number, go: () => void][] = [];
  let now = 0;
  const sleep = (ms: number) => new Promise<void>((go) => void waiting.push([now + ms, go]));
  const outage = new Outage({
    retryFor: 6 * HOUR_MS,
    onLongOutage: async (one) => void long.push(one),
    effects: { now: () => now, sleep },
    logger: createLogger({ destination: { write: (line) => lines.push(JSON.parse(line)) } }),
    onWaiting: () => {},
    signal: new AbortController().signal,
  });
  let working = 200;
  const ended = Array.from({ length: working }, async (_, at) => {
    const whose = { id: `site-${at}`, name: `shop${at}.example`, baseUrl: 'https://api.example' };
    await outage.during({ deadline: 24 * HOUR_MS, whose }, async () => {
      await sleep(1 + at);
      if (now < 100 * MINUTE_MS) throw new SourceError('server', 'GET /v1 failed');
      outage.over('service', whose);
    });
    working--;
  });
  while (working > 0) {
    const [next] = waiting.sort(([one], [other]) => one - other).splice(0, 1);
    now = next?.[0] ?? now;
    next?.[1]();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all([...ended, outage.reported]);
  expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
    ['warn', 'outage: GET /v1 failed'],
    ...Array.from({ length: 5 }, () => ['info', expect.stringContaining('still waiting for the')]),
    ['info', 'the outage of the service is over'],
  ]);
  expect(long).toMatchObject([
    { website: null, overAt: null },
    { website: null, overAt: expect.any(Number) },
  ]);
});
