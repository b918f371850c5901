import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { type Passed, startCountingProxy } from './counting-proxy.js';
import { judge, print, RUNS } from './figures.js';
import { runProgram, startSimulator, TOKEN } from './processes.js';

/**
 * How much of a key's allowance a sync uses against a service that enforces it: requests answered ÷ what the limit
 * allowed between the first and the last one, as a proxy in between saw them. The limit counts in windows of a minute,
 * so each run crosses several. Runs of one kind go side by side, because they mostly wait.
 *
 * Run with: npm run bench:utilisation (about 14 minutes; BENCH_SECONDS=40 for a look)
 */
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 140);
const AIM = 0.98;
const SHARED_AIM = 0.9;
const MOST_REFUSED = 0.01;
/** Starting, planning and committing should not meet in several runs at once. */
const STAGGER_MS = 2_000;

interface Kind {
  perMinute: number;
  websites: number;
  /** Requests a minute that another client takes of the same key. */
  others: number;
}

const KINDS: Kind[] = [
  { perMinute: 600, websites: 1, others: 0 },
  { perMinute: 600, websites: 5, others: 0 },
  { perMinute: 6000, websites: 1, others: 0 },
  { perMinute: 6000, websites: 5, others: 0 },
  { perMinute: 600, websites: 1, others: 180 },
];

/** What the service saw of one run. */
interface Seen {
  minutes: number;
  answered: number;
  refused: number;
  /** Answered to the other client in that time. */
  othersAnswered: number;
}

async function main(): Promise<void> {
  for (const kind of KINDS) {
    const runs = await Promise.all(Array.from({ length: RUNS }, (_, i) => runOnce(kind, i * STAGGER_MS)));
    report(kind, runs);
  }
  print(`again: ${SECONDS === 140 ? '' : `BENCH_SECONDS=${SECONDS} `}npm run bench:utilisation`);
}

function report({ perMinute, websites, others }: Kind, runs: Seen[]): void {
  const shortest = Math.min(...runs.map(({ minutes }) => minutes));
  const whose = others > 0 ? `another client takes ${others} of them` : 'nobody else uses the key';
  print(
    `${perMinute} a minute, ${websites} website(s), ${whose}; ${runs.length} runs of ${shortest.toFixed(2)} minutes at least`,
  );
  const used = runs.map((run) => run.answered / (perMinute * run.minutes - run.othersAnswered));
  judge('  answered ÷ allowed', used, { atLeast: others > 0 ? SHARED_AIM : AIM });
  if (others === 0) {
    judge(
      '  429s',
      runs.map(({ refused }) => refused),
      { atMost: 0, each: true },
      0,
    );
    return;
  }
  judge(
    '  429s ÷ requests',
    runs.map(({ refused, answered }) => refused / (refused + answered)),
    { atMost: MOST_REFUSED },
    4,
  );
}

async function runOnce(kind: Kind, delayMs: number): Promise<Seen> {
  await sleep(delayMs);
  const folder = mkdtempSync(join(tmpdir(), 'indexhouse-bench-'));
  const ids = Array.from({ length: kind.websites }, (_, i) => `website-${i + 1}`);
  const pages = Math.ceil(((kind.perMinute - kind.others) * SECONDS) / 60 / kind.websites);
  const simulator = await startSimulator([
    ...['--pages', String(pages), '--rate-limit', String(kind.perMinute)],
    ...['--website', ...ids],
  ]);
  const proxy = await startCountingProxy(simulator.url);
  const other = new OtherClient(simulator.url, kind.others);
  try {
    writeFileSync(join(folder, 'indexhouse.yaml'), configOf(proxy.url, kind, ids));
    other.start();
    await syncAll(folder, pages * kind.websites);
    await other.stop();
    await checkCounts(simulator.url, proxy.passed.length + other.passed.length);
    return seen(proxy.passed, other.passed);
  } finally {
    await other.stop();
    await Promise.all([proxy.stop(), simulator.stop()]);
    rmSync(folder, { recursive: true, force: true });
  }
}

function configOf(url: string, { perMinute }: Kind, ids: string[]): string {
  return JSON.stringify({
    api: { base_url: url, token: TOKEN, requests_per_minute: perMinute },
    websites: ids.map((id) => ({ id })),
    warehouse: { memory_limit: '256MB', min_free_disk: '1MB' },
  });
}

const receipt = z.object({
  websites: z.array(
    z.object({ status: z.string(), reports_status: z.string(), reports: z.object({ fetched: z.int() }) }),
  ),
});

async function syncAll(folder: string, pages: number): Promise<void> {
  const { websites } = receipt.parse(
    JSON.parse(await runProgram(['sync', '--json', '--log-level', 'error'], { cwd: folder })),
  );
  const fetched = websites.reduce((sum, { reports }) => sum + reports.fetched, 0);
  const whole = websites.every(({ reports_status }) => reports_status === 'complete') && fetched === pages;
  if (!whole) throw new Error(`the sync fetched ${fetched} of ${pages} reports: ${JSON.stringify(websites)}`);
}

const counters = z.object({ attempted: z.int() });

/** The service itself must have seen as many requests as passed here. */
async function checkCounts(url: string, passed: number): Promise<void> {
  const { attempted } = counters.parse(await (await fetch(`${url}/control/requests`)).json());
  if (attempted !== passed) throw new Error(`the service saw ${attempted} requests, and ${passed} were counted`);
}

function seen(ours: Passed[], others: Passed[]): Seen {
  const times = ours.map(({ at }) => at);
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const answered = (all: Passed[]) =>
    all.filter(({ at, status }) => status !== 429 && at >= first && at <= last).length;
  return {
    minutes: (last - first) / 60_000,
    answered: answered(ours),
    refused: ours.filter(({ status }) => status === 429).length,
    othersAnswered: answered(others),
  };
}

/** Somebody else with the same key, who asks evenly with some jitter and looks at no header. */
class OtherClient {
  readonly passed: Passed[] = [];
  readonly #stopped = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(
    private readonly url: string,
    private readonly perMinute: number,
  ) {}

  start(): void {
    if (this.perMinute > 0) this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const intervalMs = 60_000 / this.perMinute;
    for (let due = Date.now(); !this.#stopped.signal.aborted; due += intervalMs) {
      const jitter = (Math.random() - 0.5) * intervalMs;
      await sleep(Math.max(0, due + jitter - Date.now()), undefined, { signal: this.#stopped.signal }).catch(() => {});
      if (this.#stopped.signal.aborted) return;
      const at = Date.now();
      const answer = await fetch(`${this.url}/v1`, { headers: { authorization: `Bearer ${TOKEN}` } });
      await answer.text();
      this.passed.push({ at, status: answer.status });
    }
  }
}

await main();
