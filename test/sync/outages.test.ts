import { expect, test } from 'vitest';
import { z } from 'zod';
import { createLogger } from '../../src/base/observe/log.js';
import { HOUR_MS, MINUTE_MS } from '../../src/base/time.js';
import { SourceError } from '../../src/source/errors.js';
import { type LongOutage, Outage, ReportsDown } from '../../src/sync/outage.js';
import type { Receipt } from '../../src/sync/receipt.js';
import type { SyncOptions } from '../../src/sync/sync.js';
import { readRunFile } from '../../src/warehouse/journal/run-file.js';
import { sync } from '../given/client-clock.js';
import { atEnd, temporaryFolder } from '../given/folder.js';
import { type Answer, pagesOf, startService, windowOf } from '../given/service.js';
import { Clock, configFor, givenSchemas, noFollowers } from '../given/warehouse.js';

const PAGES = pagesOf('w', 30);
const DOWN: Answer = { status: 503, body: '{}' };

interface Given {
  /** How long the service answers nothing but 503, once it has answered so many requests. */
  down: { after: number; forMs: number };
  /** Pages whose reports are never to be had. */
  poison?: string[];
  /** Only reports are not answered; listings are. */
  isOfReports?: boolean;
  status?: number;
}

/** A website of 30 pages behind a service that goes down once, on a clock that only waits move. */
class World {
  readonly clock = new Clock();
  readonly lines: Record<string, unknown>[] = [];
  readonly #warehouse = `${temporaryFolder()}/warehouse`;
  readonly runFile = `${this.#warehouse}/run.json`;
  /** Reports that were answered with 200, by URL. */
  readonly fetched = new Map<string, number>();
  /** How often the listing was asked for a single entry, to see whether anything is answered. */
  probes = 0;
  /** How often a report was asked for, answered or not. */
  reportRequests = 0;
  #answered = 0;
  #downSince: number | null = null;
  #url = '';

  constructor(private readonly given: Given) {}

  async start(): Promise<this> {
    const service = await startService(
      {
        w: {
          listing: (window) => {
            if (window.limit === 1) this.probes++;
            const answer = () => windowOf(PAGES, window);
            return this.given.isOfReports ? answer() : this.#answer(answer);
          },
          report: (url) => {
            this.reportRequests++;
            return this.#answer(() => this.#report(url));
          },
        },
      },
      atEnd,
      10,
    );
    this.#url = service.url;
    return this;
  }

  async sync(retryFor: number, more: Partial<SyncOptions> = {}, given: object = {}): Promise<Receipt> {
    await givenSchemas(this.#warehouse);
    const config = configFor({ baseUrl: this.#url, warehouse: this.#warehouse, sections: { ...given } });
    return sync({
      config: { ...config, websites: [{ id: 'w' }] },
      logger: createLogger({ destination: { write: (line) => this.lines.push(JSON.parse(line)) } }),
      retryFor,
      effects: { ...this.clock.effects, follow: noFollowers },
      ...more,
    });
  }

  /** Effects under which each wait of a minute or more is noted first. */
  noting(wait: (ms: number) => unknown) {
    const { effects } = this.clock;
    const sleep: typeof effects.sleep = async (ms, signal) => {
      if (ms >= MINUTE_MS) await wait(ms);
      return effects.sleep(ms, signal);
    };
    return { ...effects, follow: noFollowers, sleep };
  }

  /** What the log says of outages. */
  get messages(): string[] {
    return this.lines.map(({ msg }) => String(msg)).filter((text) => text.includes('outage'));
  }

  #answer(answer: () => Answer): Answer {
    const { after, forMs } = this.given.down;
    if (this.#answered >= after) {
      this.#downSince ??= this.clock.now;
      if (this.clock.now - this.#downSince < forMs) return { ...DOWN, status: this.given.status ?? 503 };
    }
    this.#answered++;
    return answer();
  }

  #report(url: string): Answer {
    if (this.given.poison?.includes(url)) return DOWN;
    this.fetched.set(url, (this.fetched.get(url) ?? 0) + 1);
    return { body: JSON.stringify({ url, index_summary: 'Indexed' }) };
  }
}

const COMPLETE = { status: 'committed', listing_status: 'complete', reports_status: 'complete' };
const BEGAN = expect.stringMatching(/^outage: .*(503|429)/);
const ENDED = 'the outage of the service is over';
const EACH_ONCE = Array.from(PAGES, () => 1);

test('a run goes on after an outage; meanwhile others see what is waited for, and are notified once, and of its end', async () => {
  const world = await new World({ down: { after: 15, forMs: 100 * MINUTE_MS } }).start();
  const [begunAt, long, waits]: [number, LongOutage[], number[]] = [world.clock.now, [], []];
  const seen: unknown[] = [];
  const effects = world.noting(async (ms) => {
    waits.push(Math.round(ms / MINUTE_MS));
    const left = await readRunFile(world.runFile);
    if (left?.waiting) seen.push(left.waiting);
  });
  const onLongOutage = async (outage: LongOutage) => void long.push(outage);
  const { websites } = await world.sync(6 * HOUR_MS, { effects, onLongOutage });
  expect(websites).toMatchObject([{ ...COMPLETE, pages: { listed: 30 }, reports: { fetched: 30, failed: 0 } }]);
  expect([...world.fetched.values()]).toEqual(EACH_ONCE);
  expect(world.messages).toEqual([BEGAN, ENDED]);
  // It is reported after an hour, in the middle of a wait.
  expect(waits).toEqual([5, 10, 20, 25, 5, 30, 30]);
  expect(seen[0]).toMatchObject({ for: 'the service', error: expect.stringContaining('503') });
  const times = z.array(z.object({ since: z.string(), until: z.string() })).parse(seen);
  expect(new Set(times.map(({ since }) => since)).size).toBe(1);
  expect(new Set(times.map(({ until }) => until)).size).toBeGreaterThanOrEqual(5);
  expect(await readRunFile(world.runFile)).toMatchObject({ waiting: null, stopped: null, failed: {} });
  expect(long).toMatchObject([{ of: 'the service', overAt: null }, { of: 'the service' }]);
  const [first, over] = long;
  expect((over?.overAt ?? 0) - (first?.since ?? 0)).toBeGreaterThan(100 * MINUTE_MS);
  expect(first?.since).toBeGreaterThanOrEqual(begunAt);
});

test('a run asks again for reports that an outage throttled', async () => {
  const world = await new World({ down: { after: 15, forMs: 40 * MINUTE_MS }, status: 429 }).start();
  const { websites } = await world.sync(6 * HOUR_MS);
  expect(websites).toMatchObject([{ ...COMPLETE, reports: { fetched: 30, failed: 0 } }]);
  expect([...world.fetched.values()]).toEqual(EACH_ONCE);
});

test('with no time left to wait, the run spends no further requests and commits what it has', async () => {
  const world = await new World({ down: { after: 15, forMs: 2 * HOUR_MS } }).start();
  const receipt = await world.sync(HOUR_MS);
  const end = { status: 'committed', listing_status: 'complete', reports_status: 'failed' };
  expect(receipt.websites).toMatchObject([{ ...end, reports: { failed: 0 } }]);
  expect(receipt.websites[0]?.error).toMatch(/^the reports stopped, because none was answered since .* UTC: .*503/);
  expect(receipt.websites[0]?.reports.fetched).toBeLessThan(30);
  // Eight side by side, five times each, and a probe; then a report after each of four waits.
  expect(world.reportRequests + world.probes).toBeLessThanOrEqual(15 + 5 * 8 + 10 + 10);
});

test('bad pages at the start of a first run are no outage', async () => {
  const world = await new World({ down: { after: 99, forMs: 0 }, poison: PAGES.slice(0, 10) }).start();
  const { websites } = await world.sync(6 * HOUR_MS);
  // A third of the pages is more than `reports.max_failed_ratio` allows.
  expect(websites).toMatchObject([{ ...COMPLETE, reports_status: 'failed', reports: { fetched: 20, failed: 10 } }]);
  expect(world.messages).toEqual([]);
  // One request answers for all that failed side by side.
  expect(world.reportRequests + world.probes).toBeLessThanOrEqual(20 + 5 * 10 + 4);
});

test('where nothing but reports fails, one of them is asked for after each wait', async () => {
  const world = await new World({ down: { after: 5, forMs: 100 * MINUTE_MS }, isOfReports: true }).start();
  const asked: number[] = [];
  const effects = world.noting(() => asked.push(world.reportRequests));
  const { websites } = await world.sync(6 * HOUR_MS, { effects });
  expect(websites).toMatchObject([{ ...COMPLETE, reports: { fetched: 30, failed: 0 } }]);
  expect(world.messages).toEqual([BEGAN, 'the outage of the reports is over']);
  const [first = 0] = asked;
  expect(asked).toEqual([0, 1, 2, 3, 4, 5].map((waits) => first + waits));
  expect(world.probes).toBe(1);
});

test('a full disk is waited for; one that fills up ends the fetching, and the next run goes on', async () => {
  const world = await new World({ down: { after: 99, forMs: 0 } }).start();
  const begunAt = world.clock.now;
  // The disk is looked at every two seconds; the clock of this run is that fast.
  const now = () => world.clock.now + world.reportRequests * 3000;
  const isFull = () => world.clock.now - begunAt < HOUR_MS || world.reportRequests > 10;
  const diskOf = async () => ({ free: isFull() ? 0 : 1e12, reserve: 1e9 });
  const effects = { ...world.clock.effects, follow: noFollowers, now, diskOf };
  const { websites } = await world.sync(2 * HOUR_MS, { effects });
  expect(world.messages).toEqual([expect.stringMatching(/^outage: .*free/), 'the outage of the disk is over']);
  const end = { status: 'committed', listing_status: 'complete', reports_status: 'interrupted' };
  expect(websites).toMatchObject([{ ...end, error: expect.stringContaining('that a run leaves free') }]);
  const fetched = websites[0]?.reports.fetched ?? 0;
  expect([fetched > 0, fetched < 30, websites[0]?.reports.planned]).toEqual([true, true, fetched]);
  world.clock.now += HOUR_MS;
  expect((await world.sync(0)).websites).toMatchObject([{ ...COMPLETE, resumed: false }]);
});

test.each([
  ['the service', SourceError, 'service'],
  ['the reports', ReportsDown, 'reports'],
] as const)(
  'an outage of %s that stops 200 websites is one line a wait, one at warn, one notice and its end',
  async (_, Down, kind) => {
    const [lines, long, waiting]: [Record<string, unknown>[], LongOutage[], [at: number, go: () => void][]] = [
      [],
      [],
      [],
    ];
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
      const work = async () => {
        await sleep(1 + at);
        if (now < 100 * MINUTE_MS) throw new Down('server', 'GET /v1 failed');
        outage.over(kind, whose);
      };
      await outage.during({ deadline: 24 * HOUR_MS, whose }, work);
      working--;
    });
    while (working > 0) {
      const [next] = waiting.sort(([one], [other]) => one - other).splice(0, 1);
      now = next?.[0] ?? now;
      next?.[1]();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all([...ended, outage.reported]);
    const over = `the outage of the ${kind} is over`;
    expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
      ['warn', 'outage: GET /v1 failed'],
      ...Array.from({ length: 5 }, () => ['info', expect.stringContaining('still waiting for the')]),
      ['info', over],
    ]);
    expect(long).toMatchObject([
      { website: null, overAt: null },
      { website: null, overAt: expect.any(Number) },
    ]);
  },
);
