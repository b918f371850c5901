import { setTimeout as sleep } from 'node:timers/promises';
import { DEMO_TOKEN, startSimulator } from '../src/app/demo/simulator/simulator.js';
import { DEMO_WEBSITE_ID, type World as SimulatedWorld } from '../src/app/demo/simulator/world.js';
import { configSchema } from '../src/base/config/schema.js';
import { createLogger } from '../src/base/observe/log.js';
import type { Limiter } from '../src/serve/api/rate-limit.js';
import type { CoverageEntry } from '../src/source/contract/coverage.js';
import { realRunEffects } from '../src/sync/context.js';
import { sync } from '../src/sync/sync.js';
import {
  LIMITER_KINDS,
  RATE_HEADERS,
  type SimulatedLimit,
  simulatedLimiter,
} from '../test/source/pace/simulated-limiter.js';
import { judge, median, print, sizeOf, tell } from './figures.js';
import { inFolder } from './processes.js';
import { PROMISES } from './promises.js';

/**
 * What nights ask a service for, and how much of a key's allowance they use.
 *
 * Nights of a simulated website are a day apart, where a tenth of the pages is crawled again each night and where few are.
 * What changed between two nights is read from the world itself. `BENCH_PAGES` sets its size.
 *
 * Limiters allow a rate for `BENCH_SECONDS` of real time: windows from the first request, windows by the clock, sliding
 * ones and token buckets, each with four meanings of the reset and without rate headers.
 */
const PAGES = sizeOf('BENCH_PAGES', 50_000);
const SECONDS = sizeOf('BENCH_SECONDS', 65);
/** A few nights of many pages, and more than a month of few: after a month every report was fetched again. */
const WORLDS: readonly World[] = [
  { pages: PAGES, nights: 3, recrawled: 0.002 },
  ...[0.1, 0.002].map((recrawled) => ({ pages: PAGES / 10, nights: 35, recrawled })),
];
/** Each report is fetched again within 30 days. */
const EVEN_NIGHTS = 30;
/** Starting, planning and committing should not meet in several runs at once. */
const STAGGER_MS = 1_000;
/** More limits side by side, and the machine is what is measured. */
const AT_ONCE = 10;
const COMPARED: (keyof CoverageEntry)[] = [
  'index_summary',
  'index_coverage_state',
  'canonicals_match',
  'searchengine_selected_canonical',
  'user_selected_canonical',
  'last_crawl_time',
];
const { requests: PROMISED } = PROMISES;

interface World {
  pages: number;
  nights: number;
  /** Share of the pages that are crawled again in a night. */
  recrawled: number;
}

async function main(): Promise<void> {
  for (const world of WORLDS) await benchNights(world);
  await benchLimits();
}

async function benchNights(world: World): Promise<void> {
  const { pages, nights: number, recrawled } = world;
  const [, ...nights] = await inFolder((folder) => syncNights(folder, world));
  print(`${pages} pages on ${number} nights, ${100 * recrawled}% of them crawled again in a night`);
  tell('  of a night', {
    'pages changed or new': median(nights.map(({ due }) => due)),
    requests: median(nights.map(({ requests }) => requests)),
    'of them for unchanged pages': median(nights.map(({ oldest }) => oldest)),
  });
  judge(PROMISED.unfetched, Math.max(...nights.map(({ unfetched }) => unfetched)));
  judge(PROMISED.reports, median(nights.map(({ reports, oldest, due }) => (reports - oldest) / due)));
  if (number > EVEN_NIGHTS)
    judge(PROMISED.refreshed, (Math.max(...nights.map(({ oldest }) => oldest)) * EVEN_NIGHTS) / pages);
  // Of few pages, the one window that each listing overlaps is a large part.
  else judge(PROMISED.all, median(nights.map(({ requests, oldest, due, gone }) => (requests - oldest) / (due + gone))));
}

/** What each night asked for, and what it had to. */
async function syncNights(folder: string, { pages, nights: number, recrawled }: World) {
  let [began, passed] = [0, performance.now()];
  const now = () => Math.round(began + performance.now() - passed);
  const websites = [{ id: DEMO_WEBSITE_ID, pages, recrawled }];
  const simulator = await startSimulator({ websites, clock: now });
  const nights = [];
  try {
    let before = listingOf(simulator.world);
    for (let night = 0; night <= number; night++) {
      if (night > 0) simulator.advance();
      [began, passed] = [simulator.world.now.getTime(), performance.now()];
      const listed = listingOf(simulator.world);
      simulator.requests.reset();
      const [website] = (await syncNow(folder, { api: { base_url: simulator.url }, now })).websites;
      if (website?.reports_status !== 'complete') throw new Error(`night ${night + 1} ended as ${website?.error}`);
      const asked = new Set([...simulator.requests.byRequest.keys()].map((path) => path.split('?url=')[1]));
      const due = [...listed.keys()].filter((url) => night === 0 || before.get(url) !== listed.get(url));
      nights.push({
        due: due.length,
        gone: [...before.keys()].filter((url) => !listed.has(url)).length,
        unfetched: due.filter((url) => !asked.has(encodeURIComponent(url))).length,
        requests: website.requests.sent,
        reports: website.reports.planned,
        oldest: website.reports.by_reason.oldest,
      });
      before = listed;
    }
    return nights;
  } finally {
    await simulator.close();
  }
}

/** What a report is fetched for if it changes, by page. */
function listingOf(world: SimulatedWorld): Map<string, string> {
  const { entries } = world.listing(DEMO_WEBSITE_ID, 0, Number.POSITIVE_INFINITY);
  return new Map(entries.map((entry) => [entry.url, JSON.stringify(COMPARED.map((field) => entry[field]))]));
}

interface SyncNow {
  api: object;
  websites?: string[];
  now?: () => number;
}

async function syncNow(folder: string, { api, websites = [], now = Date.now }: SyncNow) {
  const config = {
    ...configSchema.parse({
      api: { token: DEMO_TOKEN, requests_per_minute: 'unlimited', ...api },
      websites: websites.length > 0 ? websites.map((id) => ({ id })) : 'all',
      warehouse: { path: folder },
    }),
    file: '',
  };
  const logger = createLogger({ level: 'error', destination: process.stderr, color: false, secrets: [] });
  const options = { version: 'bench', logger, progress: null, websites: [], recoverOnly: false };
  return sync({ ...options, config, signal: new AbortController().signal, effects: { ...realRunEffects, now } });
}

/** A limit, and who uses it. */
interface Limited {
  perMinute: number;
  websites: number;
  /** Requests a minute that another client takes of the same key. */
  others: number;
  /** How the service limits, where that is not in minutes from the first request. */
  limit: Partial<SimulatedLimit>;
  seconds: number;
  /** What the client is told, where that is not the limit. */
  told: number | 'unlimited' | null;
}

interface Use {
  /** Requests answered ÷ those that the limit allowed. */
  used: number;
  refused: number;
  sent: number;
}

const ONE: Limited = { perMinute: 600, websites: 1, others: 0, limit: {}, seconds: SECONDS, told: null };
const EVERY_LIMITER = LIMITER_KINDS.flatMap((kind) =>
  RATE_HEADERS.map((headers): Limited => ({ ...ONE, limit: { kind, headers } })),
);
const FAST = { ...ONE, perMinute: 6000 };
const FULL: Limited[] = [{ ...ONE, websites: 5 }, FAST, { ...FAST, websites: 5 }];
const SHARED: Limited[] = [{ ...ONE, others: 180 }];
/** 60 a second by the clock, 60 in any second, and 300 in any minute: the client has to learn them first. */
const LEARNED = { ...ONE, seconds: 2 * SECONDS };
const HIDDEN: Limited[] = [
  ...(['clock', 'sliding'] as const).map((kind): Limited => {
    return {
      ...LEARNED,
      perMinute: 3600,
      limit: { limit: 60, windowMs: 1000, kind, headers: 'off' },
      told: 'unlimited',
    };
  }),
  { ...LEARNED, perMinute: 300, limit: { kind: 'sliding', headers: 'off' }, told: 600 },
];

async function benchLimits(): Promise<void> {
  print(`limits of 600 and 6,000 a minute for ${SECONDS} seconds, each limiter with each meaning of its reset`);
  const own = [...(await usesOf(EVERY_LIMITER)), ...(await usesOf(FULL))];
  const shares = own.map(({ used }) => used);
  judge(PROMISED.used, Math.min(...shares), `median ${median(shares).toFixed(3)} of ${own.length}`);
  judge(PROMISED.refused, Math.max(...own.map(({ refused }) => refused)));
  const [shared, ...hidden] = await usesOf([...SHARED, ...HIDDEN]);
  judge(PROMISED.shared, shared?.used ?? Number.NaN);
  const each = hidden.map(({ used }) => used.toFixed(3)).join(', ');
  judge(PROMISED.hidden, Math.min(...hidden.map(({ used }) => used)), each);
  judge(PROMISED.hiddenRefused, Math.max(...hidden.map(({ refused, sent }) => refused / sent)));
}

/** Some go side by side, because they mostly wait. */
async function usesOf(all: readonly Limited[]): Promise<Use[]> {
  const some = all.slice(0, AT_ONCE).map((limited, at) => sleep(at * STAGGER_MS).then(() => inFolder(useOf(limited))));
  const uses = await Promise.all(some);
  return all.length > AT_ONCE ? [...uses, ...(await usesOf(all.slice(AT_ONCE)))] : uses;
}

/** Syncs as much as a limit allows in its time, and counts what the limiter allowed between the first and the last request. */
function useOf({ perMinute, websites: number, others, limit, seconds, told }: Limited) {
  return async (folder: string): Promise<Use> => {
    const pages = Math.ceil(((perMinute - others) * seconds) / 60 / number);
    const websites = Array.from({ length: number }, (_, at) => ({ id: `website-${at + 1}`, pages }));
    const { limiter, taken, takeAsOther } = recorded({ limit: perMinute, ...limit });
    const simulator = await startSimulator({ websites, limiter });
    const other = setInterval(takeAsOther, others > 0 ? 60_000 / others : 1e9);
    try {
      const requests_per_minute = told ?? perMinute;
      const api = { base_url: simulator.url, requests_per_minute, concurrency: told === 'unlimited' ? 50 : 8 };
      const receipt = await syncNow(folder, { api, websites: websites.map(({ id }) => id) });
      const fetched = receipt.websites.reduce((sum, { reports }) => sum + reports.fetched, 0);
      if (fetched !== pages * number) throw new Error(`the sync fetched ${fetched} of ${pages * number} reports`);
    } finally {
      clearInterval(other);
      await simulator.close();
    }
    const ours = taken.filter(({ isOther }) => !isOther);
    const [first, last] = [ours[0]?.at ?? 0, ours.at(-1)?.at ?? 0];
    const answered = taken.filter(({ at, allowed }) => allowed && at >= first && at <= last);
    const left = (perMinute * (last - first)) / 60_000 - answered.filter(({ isOther }) => isOther).length;
    return {
      used: answered.filter(({ isOther }) => !isOther).length / left,
      refused: ours.filter(({ allowed }) => !allowed).length,
      sent: ours.length,
    };
  };
}

/** A limiter that notes every request. */
function recorded(limit: Partial<SimulatedLimit>) {
  const given = { limit: 600, kind: 'first-request', headers: 'boundary', windowMs: 60_000 } as const;
  const limiter = simulatedLimiter({ ...given, ...limit, clock: Date.now });
  const taken: { at: number; allowed: boolean; isOther: boolean }[] = [];
  let known: string | undefined;
  const take = (client: string, isOther: boolean) => {
    const allowance = limiter.take(client);
    taken.push({ at: Date.now(), allowed: allowance.allowed, isOther });
    return allowance;
  };
  const recording: Limiter = {
    take: (client) => {
      known = client;
      return take(client, false);
    },
    peek: (client) => limiter.peek(client),
  };
  // Whoever else has the key asks evenly and looks at no header.
  const takeAsOther = () => known !== undefined && take(known, true);
  return { limiter: recording, taken, takeAsOther };
}

await main();
