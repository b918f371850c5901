import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunEffects } from '../../src/sync/context.js';
import { unfinishedJournals } from '../../src/warehouse/journal/folder.js';
import type { Ended } from './cli.js';
import { holdOpen } from './holder.js';
import { type Answer, pagesOf } from './service.js';
import { unwaiting } from './warehouse.js';

/** The pages of each ending's website. */
export const PAGES = 9;

/** What an ending is made with. */
export interface World {
  warehouse: string;
  /** Runs a sync; it is stopped once so many reports were asked for. */
  sync(stopAfter?: number): Promise<Ended>;
}

/** One way in which a run ends, and what is to be seen of it. */
export interface Ending {
  name: string;
  exitCode: 0 | 1 | 3;
  /** The kinds of the notices that are sent. */
  notices: string[];
  /** What a message says of it. */
  says?: string;
  flags?: string[];
  sections?: Record<string, Record<string, unknown>>;
  /** What goes before the run. */
  before?: (world: World) => Promise<unknown>;
  listing?: (window: { skip: number }) => Answer | undefined;
  report?: (page: number) => Answer | undefined;
  /** What is otherwise on the machine. */
  effects?: Partial<RunEffects>;
  /** By how many milliseconds the service's clock is ahead. */
  clockAhead?: number;
}

/** What is to be seen of an ending, by its exit code: how the last line begins, the last ping, `/healthz`. */
export const FACES = {
  0: { lastLine: 'Done: ', ping: '', health: { status: 200, says: 'ok' } },
  1: { lastLine: 'Failed: ', ping: '/fail', health: { status: 503, says: 'failed' } },
  3: { lastLine: 'Completed with warnings: ', ping: '/fail', health: { status: 503, says: 'warnings' } },
} as const;

const REFUSED: Answer = { status: 401, body: '{"error":"unauthorized","message":"No.","status":401}' };
const BROKEN: Answer = { status: 500, body: 'proxy error' };

/** Flips a byte in the middle of the journal that an interrupted run left. */
async function damage({ warehouse }: World): Promise<void> {
  const [folder] = await unfinishedJournals(warehouse);
  if (!folder) throw new Error('no run is unfinished');
  const bytes = readFileSync(folder.listing);
  bytes.writeUInt8((bytes[40] ?? 0) ^ 1, 40);
  writeFileSync(folder.listing, bytes);
}

/** Dates what an interrupted run left to seven hours ago. */
async function age({ warehouse }: World): Promise<void> {
  const then = Date.now() / 1000 - 7 * 3600;
  for (const { path } of await unfinishedJournals(warehouse)) {
    for (const name of readdirSync(path)) utimesSync(join(path, name), then, then);
  }
  const file = join(warehouse, 'run.json');
  const started_at = new Date((then - 60) * 1000).toISOString();
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), started_at }));
}

/** Every way in which a run can end, in the order in which the contract lists them. */
export const ENDINGS: readonly Ending[] = [
  { name: 'everything is fetched', exitCode: 0, notices: [] },
  {
    name: 'nothing to do (`--recover` without an interrupted run)',
    exitCode: 0,
    notices: [],
    flags: ['--recover'],
    before: ({ sync }) => sync(),
  },
  { name: 'the budget is reached', exitCode: 0, notices: [], flags: ['--max-reports', '3'] },
  {
    name: 'the deadline is reached',
    exitCode: 0,
    notices: [],
    flags: ['--deadline', '1s'],
    sections: { api: { concurrency: 1 } },
    report: () => (response) => setTimeout(() => response.writeHead(500).end(), 1100),
  },
  {
    name: 'single reports fail',
    exitCode: 0,
    notices: [],
    report: (page) => (page < 2 ? BROKEN : undefined),
  },
  {
    name: 'too many reports fail',
    exitCode: 3,
    notices: ['reports'],
    says: '3 of 9 reports failed since',
    report: (page) => (page % 3 === 0 ? BROKEN : undefined),
  },
  {
    name: 'all reports fail, and an outage is not waited for',
    exitCode: 3,
    notices: ['reports'],
    says: 'the service answered 500',
    report: () => BROKEN,
  },
  {
    name: 'nearly all reports are answered with 404',
    exitCode: 3,
    notices: ['reports'],
    says: '9 of 9 reports of listed pages were answered with 404',
    report: () => ({ status: 404, body: '{"error":"not_found","message":"No.","status":404}' }),
  },
  {
    name: 'reports are refused (401)',
    exitCode: 3,
    notices: ['reports'],
    says: 'the service answered 401',
    report: (page) => (page > 3 ? REFUSED : undefined),
  },
  {
    name: 'too many records are rejected',
    exitCode: 3,
    notices: ['rejects'],
    says: `3 of 9 reports were rejected, more than 1.0%: last_crawl_time: is not an ISO 8601 time with Z or an offset ("yester\\u001B[31m\\n day ${'x'.repeat(56)}) of ${pagesOf('w', PAGES)[0]}`,
    report: (page) => {
      if (page === 7) return { body: 'no JSON' };
      const last_crawl_time = `yester\u001b[31m\n\u202eday ${'x'.repeat(200)}`;
      return page < 2 ? { body: JSON.stringify({ url: pagesOf('w', PAGES)[page], last_crawl_time }) } : undefined;
    },
  },
  {
    name: 'the listing is partial',
    exitCode: 3,
    notices: ['partial'],
    says: 'the listing is partial',
    listing: ({ skip }) => (skip > 0 ? { status: 418 } : undefined),
  },
  {
    name: 'the disk is full',
    exitCode: 3,
    notices: ['reports'],
    says: "the warehouse's disk has only",
    effects: { diskOf: async () => ({ free: 1e6, reserve: 1e9 }) },
  },
  {
    name: 'an interrupted run is too old to be resumed (`--recover`)',
    exitCode: 3,
    notices: ['reports'],
    says: 'stopped by a signal',
    flags: ['--recover'],
    before: async (world) => {
      await world.sync(3);
      await age(world);
    },
  },
  {
    name: 'a damaged journal is set aside',
    exitCode: 3,
    notices: ['damaged'],
    says: 'damaged',
    before: async (world) => {
      await world.sync(3);
      await damage(world);
    },
  },
  {
    name: "the clock is half an hour off the service's",
    exitCode: 3,
    notices: ['clock'],
    says: 'behind that of the service',
    clockAhead: 30 * 60_000,
  },
  {
    name: 'a copy lags',
    exitCode: 3,
    notices: ['lagging'],
    says: 'indexhouse.duckdb',
    effects: { follow: unwaiting },
    before: ({ warehouse }) => holdOpen(join(warehouse, 'indexhouse.duckdb'), 'READ_WRITE'),
  },
  {
    name: 'the clock is two days off',
    exitCode: 1,
    notices: ['failed'],
    says: 'behind that of the service',
    clockAhead: 2 * 86_400_000,
  },
  {
    name: 'the token is refused (401)',
    exitCode: 1,
    notices: ['failed'],
    says: 'the service answered 401',
    listing: () => REFUSED,
  },
  {
    name: 'the service is down',
    exitCode: 1,
    notices: ['failed'],
    says: 'the service answered 500',
    listing: () => BROKEN,
  },
];
