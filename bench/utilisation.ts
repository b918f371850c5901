import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { LIMITER_KINDS, RATE_HEADERS } from '../test/source/pace/simulated-limiter.js';
import { type Passed, startCountingProxy } from './counting-proxy.js';
import { judge, print, RUNS } from './figures.js';
import type { LimitedService } from './limited-service.js';
import { runProgram, startBenchService, TOKEN } from './processes.js';

/**
 * How much of a key's allowance a sync uses against a service that enforces it: requests answered ÷ what the limit
 * allowed between the first and the last one, as a proxy in between saw them. Each run crosses several windows. Runs go
 * side by side, because they mostly wait.
 *
 * Run with: npm run bench:utilisation (about 20 minutes; BENCH_SECONDS=40 for a look)
 */
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 140);
const AIM = 0.98;
const SHARED_AIM = 0.9;
const HIDDEN_AIM = 0.85;
const MOST_REFUSED = 0.01;
const MOST_REFUSED_HIDDEN = 0.02;
/** Starting, planning and committing should not meet in several runs at once. */
const STAGGER_MS = 2_000;
/** Limiters side by side: more processes than that, and the machine is what is measured. */
const AT_ONCE = 5;

interface Kind {
  perMinute: number;
  websites: number;
  /** Requests a minute that another client takes of the same key. */
  others: number;
  /** How the service limits, where that is not in minutes from the first request. */
  limit: Partial<LimitedService['limit']>;
  /** What the client is told, where that is not the limit. */
  told: number | 'unlimited' | null;
}

const ONE: Kind = { perMinute: 600, websites: 1, others: 0, limit: {}, told: null };
const FULL: Kind[] = [
  { ...ONE, websites: 5 },
  { ...ONE, perMinute: 6000 },
  { ...ONE, perMinute: 6000, websites: 5 },
];
const SHARED: Kind = { ...ONE, others: 180 };
/** Limits that no header tells. */
const HIDDEN: Kind[] = [
  ...(['clock', 'sliding'] as const).map((kind): Kind => {
    const limit = { limit: 60, windowMs: 1000, kind, headers: 'off' } as const;
    return { ...ONE, perMinute: 3600, limit, told: 'unlimited' };
  }),
  { ...ONE, perMinute: 300, limit: { kind: 'sliding', headers: 'off' }, told: 600 },
];

/** What the service saw of one run. */
interface Seen {
  kind: Kind;
  minutes: number;
  answered: number;
  refused: number;
  /** Answered to the other client in that time. */
  othersAnswered: number;
}

async function main(): Promise<void> {
  await benchLimiters();
  for (const kind of FULL) {
    const runs = await Promise.all(Array.from({ length: RUNS }, (_, i) => runOnce(kind, i * STAGGER_MS)));
    print(`${kind.perMinute} a minute, ${kind.websites} website(s), nobody else uses the key; ${runs.length} runs`);
    judge('  answered ÷ allowed', runs.map(utilisation), { atLeast: AIM });
    judge('  429s', runs.map(refused), { atMost: 0, each: true }, 0);
  }
  await benchSharedAndHidden();
  print(`again: ${SECONDS === 140 ? '' : `BENCH_SECONDS=${SECONDS} `}npm run bench:utilisation`);
}

/** Every limiter with every meaning of its reset, once. */
async function benchLimiters(): Promise<void> {
  const limiters = LIMITER_KINDS.flatMap((kind) => RATE_HEADERS.map((headers) => ({ kind, headers })));
  const runs: Seen[] = [];
  for (let first = 0; first < limiters.length; first += AT_ONCE) {
    const some = limiters.slice(first, first + AT_ONCE).map((limit, at) => runOnce({ ...ONE, limit }, at * STAGGER_MS));
    runs.push(...(await Promise.all(some)));
  }
  print('600 a minute, every limiter');
  for (const [at, { kind, headers }] of limiters.entries()) {
    const run = runs[at];
    if (run) print(`  ${kind}, reset ${headers}: ${utilisation(run).toFixed(3)}, ${run.refused} refused`);
  }
  judge('  answered ÷ allowed', runs.map(utilisation), { atLeast: AIM, each: true });
  judge('  429s', runs.map(refused), { atMost: 0, each: true }, 0);
}

async function benchSharedAndHidden(): Promise<void> {
  const kinds = [...Array.from({ length: RUNS }, () => SHARED), ...HIDDEN];
  const runs = await Promise.all(kinds.map((kind, at) => runOnce(kind, at * STAGGER_MS)));
  const [shared, hidden] = [runs.slice(0, RUNS), runs.slice(RUNS)];
  print(`600 a minute, another client takes ${SHARED.others} of them`);
  judge('  answered ÷ allowed', shared.map(utilisation), { atLeast: SHARED_AIM });
  judge('  429s ÷ requests', shared.map(refusedShare), { atMost: MOST_REFUSED }, 4);
  print('hidden limits: 60 a second by the clock, 60 in any second, told unlimited; 300 in any minute, told 600');
  judge('  answered ÷ allowed', hidden.map(utilisation), { atLeast: HIDDEN_AIM, each: true });
  judge('  429s ÷ requests', hidden.map(refusedShare), { atMost: MOST_REFUSED_HIDDEN, each: true }, 4);
}

function utilisation({ answered, kind, minutes, othersAnswered }: Seen): number {
  return answered / (kind.perMinute * minutes - othersAnswered);
}

function refused(run: Seen): number {
  return run.refused;
}

function refusedShare(run: Seen): number {
  return run.refused / (run.refused + run.answered);
}

async function runOnce(kind: Kind, delayMs: number): Promise<Seen> {
  await sleep(delayMs);
  const folder = mkdtempSync(join(tmpdir(), 'indexhouse-bench-'));
  const ids = Array.from({ length: kind.websites }, (_, i) => `website-${i + 1}`);
  const pages = Math.ceil(((kind.perMinute - kind.others) * SECONDS) / 60 / kind.websites);
  const service: LimitedService = {
    websites: ids.map((id) => ({ id, pages })),
    token: TOKEN,
    limit: { limit: kind.perMinute, kind: 'first-request', headers: 'boundary', windowMs: 60_000, ...kind.limit },
  };
  const simulator = await startBenchService('limited-service', [JSON.stringify(service)]);
  const proxy = await startCountingProxy(simulator.url);
  const other = new OtherClient(simulator.url, kind.others);
  try {
    writeFileSync(join(folder, 'indexhouse.yaml'), configOf(proxy.url, kind, ids));
    other.start();
    await syncAll(folder, pages * kind.websites);
    await other.stop();
    await checkCounts(simulator.url, proxy.passed.length + other.passed.length);
    return seen(kind, proxy.passed, other.passed);
  } finally {
    await other.stop();
    await Promise.all([proxy.stop(), simulator.stop()]);
    rmSync(folder, { recursive: true, force: true });
  }
}

function configOf(url: string, { perMinute, told }: Kind, ids: string[]): string {
  const requests_per_minute = told ?? perMinute;
  const concurrency = told === 'unlimited' ? 50 : 8;
  return JSON.stringify({
    api: { base_url: url, token: TOKEN, requests_per_minute, concurrency },
    websites: ids.map((id) => ({ id })),
    warehouse: { memory_limit: '256MB' },
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

const control = z.object({ requests: z.object({ attempted: z.int() }) });

/** The service itself must have seen as many requests as passed here. */
async function checkCounts(url: string, passed: number): Promise<void> {
  const { attempted } = control.parse(await (await fetch(`${url}/control`)).json()).requests;
  if (attempted !== passed) throw new Error(`the service saw ${attempted} requests, and ${passed} were counted`);
}

function seen(kind: Kind, ours: Passed[], others: Passed[]): Seen {
  const times = ours.map(({ at }) => at);
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const answered = (all: Passed[]) =>
    all.filter(({ at, status }) => status !== 429 && at >= first && at <= last).length;
  return {
    kind,
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
      this.passed.push({ at, path: '/v1', status: answer.status });
    }
  }
}

await main();
