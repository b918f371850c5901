import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect } from 'vitest';
import { type Config, configSchema } from '../../src/base/config/schema.js';
import { createLogger, type Logger } from '../../src/base/observe/log.js';
import { withEngine } from '../../src/base/storage/engine.js';
import { type RunEffects, realRunEffects } from '../../src/sync/context.js';
import { type Receipt, runExitCode, type WebsiteReceipt } from '../../src/sync/receipt.js';
import { createDatabase } from '../../src/warehouse/copies/duckdb.js';
import { followAll } from '../../src/warehouse/copies/follow.js';
import { warehouseFolder } from '../../src/warehouse/log/folder/layout.js';
import { prepareWarehouse } from '../../src/warehouse/log/folder/prepare.js';
import { sync } from './client-clock.js';
import { temporaryFolder } from './folder.js';
import { type GivenPage, startService, TOKEN } from './service.js';

/** A run at this time, of the websites that list something then. Every other one stays as it was. */
export interface Night {
  at: string;
  lists: Record<string, GivenPage[]>;
  sections?: Record<string, Record<string, unknown>>;
  /** As `RUN_LIMITS` has it. */
  maxRejectRatio?: number;
}

export interface BuiltWarehouse {
  path: string;
}

/** Followers that do nothing: writing the Parquet files alone takes three quarters of the time. */
export const noFollowers: RunEffects['follow'] = async () => [];
/** Followers that do not wait for a reader. */
export const unwaiting: RunEffects['follow'] = (input) => followAll({ ...input, lockTimeout: 0 });

/**
 * A warehouse after these nights, in a folder of its own: they are synced once for all tests, and copied. Only where it
 * is `followed` do its followers take them, in the copy, because a follower knows its folder.
 */
export async function buildWarehouse(nights: Night[], followed: 'followed' | null = null): Promise<BuiltWarehouse> {
  const path = join(temporaryFolder(), 'warehouse');
  const digest = createHash('sha256').update(JSON.stringify(nights)).digest('hex');
  const kept = join(tmpdir(), `indexhouse-nights-${digest}`);
  if (existsSync(kept)) cpSync(kept, path, { recursive: true });
  else {
    await syncNights(path, nights);
    keep(path, kept);
  }
  if (followed) {
    await givenDatabase(path);
    const { sections = {} } = nights.at(-1) ?? {};
    const config = configFor({ baseUrl: 'http://127.0.0.1:1', warehouse: path, sections });
    await realRunEffects.follow({ config, logger: createLogger({ level: 'silent' }) });
  }
  return { path };
}

/** The same for all tests of a file or block, built before the first one. */
export function sharedWarehouse(build: () => Promise<BuiltWarehouse>): Readonly<BuiltWarehouse> {
  let built: BuiltWarehouse | undefined;
  beforeAll(async () => {
    built = await build();
  });
  return {
    get path() {
      return built?.path ?? expect.fail('it is not built yet');
    },
  };
}

/** Whole or not at all: another process may want it, or keep the same. */
function keep(path: string, kept: string): void {
  const copy = mkdtempSync(`${kept}-`);
  cpSync(path, copy, { recursive: true });
  try {
    renameSync(copy, kept);
  } catch {
    rmSync(copy, { recursive: true });
  }
}

/** Adds these nights to a warehouse. */
export async function syncNights(path: string, nights: Night[]): Promise<void> {
  const service = await startService();
  for (const { at, lists, sections = {}, ...rest } of nights) {
    for (const [websiteId, pages] of Object.entries(lists)) service.list(websiteId, pages);
    await syncAt({ baseUrl: service.url, warehouse: path, at, websites: Object.keys(lists), sections, ...rest });
  }
  await service.close();
}

/** The keys of a configuration, as they stand in its file. */
export interface Sections {
  [key: string]: object | string | undefined;
  api?: object;
  reports?: object;
  warehouse?: object;
}

interface GivenSync {
  baseUrl: string;
  /** Folder of the warehouse. */
  warehouse: string;
  /** When it is for the whole run, such as `2025-03-01T02:00:00Z`; or a clock that the test moves. */
  at: string | Clock;
  /** Ids; all that the service has if left out. */
  websites?: string[];
  sections?: Sections;
  /** Whether the followers take it; else only the Parquet files are written. */
  followed?: 'followed' | null;
  /** Other followers. */
  follow?: RunEffects['follow'];
  /** Silent if left out. */
  logger?: Logger | undefined;
  /** As `RUN_LIMITS` has it. */
  maxRejectRatio?: number;
}

let prepared: Promise<string> | null = null;

/**
 * Gives a new warehouse what every one has alike: the text of its columns and, if followers take it, an empty
 * `indexhouse.duckdb`. A copy takes a tenth of the time in which the first sync would make them.
 */
export async function givenSchemas(warehouse: string, isFollowed = false): Promise<void> {
  if (existsSync(warehouse)) return;
  cpSync(join(await preparedWarehouse(), 'schema'), join(warehouse, 'schema'), { recursive: true });
  // What the first sync leaves behind, too.
  mkdirSync(join(warehouse, 'tmp'));
  if (isFollowed) await givenDatabase(warehouse);
}

async function givenDatabase(warehouse: string): Promise<void> {
  cpSync(warehouseFolder(await preparedWarehouse()).database, warehouseFolder(warehouse).database);
}

function preparedWarehouse(): Promise<string> {
  prepared ??= (async () => {
    const path = mkdtempSync(join(tmpdir(), 'indexhouse-schemas-'));
    await prepareWarehouse(path, 'UTC');
    const engine = { memoryLimit: 256e6, temporary: join(path, 'tmp') };
    await withEngine(engine, (opened) => createDatabase(opened, warehouseFolder(path).database, 'UTC'));
    return path;
  })();
  return prepared;
}

/** A night: runs a real sync, at a time of the test's choosing, and says what it did. */
export async function syncAt({
  at,
  websites = [],
  followed = null,
  follow,
  maxRejectRatio,
  ...given
}: GivenSync): Promise<Receipt> {
  await givenSchemas(given.warehouse, followed !== null);
  const { effects } = clockOf(at);
  return sync({
    config: configFor(given),
    websites,
    limits: maxRejectRatio === undefined ? {} : { maxRejectRatio },
    effects: { ...effects, ...(followed ? {} : { follow: follow ?? noFollowers }) },
  });
}

/** A sync of the website `w` with its followers, which no reject makes partial. */
export async function syncWebsite({ at, follow, logger, ...given }: Omit<GivenSync, 'websites' | 'followed'>): Promise<{
  receipt: WebsiteReceipt;
  /** Whether a follower lags aside. */
  exitCode: number;
  /** Why which follower is behind. */
  lagging: string[];
}> {
  await givenSchemas(given.warehouse, follow === undefined || follow === realRunEffects.follow);
  const config = configFor(given);
  const run = await sync({
    config: { ...config, websites: [{ id: 'w' }] },
    limits: { maxRejectRatio: 1 },
    ...(logger ? { logger } : {}),
    effects: { ...clockOf(at).effects, ...(follow ? { follow } : {}) },
  });
  const [receipt] = run.websites;
  if (!receipt) throw new Error('the run has no website');
  const exitCode = runExitCode({ ...run, followers: [] });
  const lagging = run.followers.flatMap(({ behind, reason }) => (behind > 0 ? [String(reason)] : []));
  return { receipt, exitCode, lagging };
}

function clockOf(at: string | Clock): Clock {
  return typeof at === 'string' ? new Clock(Date.parse(at)) : at;
}

/** A configuration for a service that is asked as fast as it answers, and each night for every report. */
export function configFor({
  baseUrl,
  warehouse,
  sections = {},
}: Pick<GivenSync, 'baseUrl' | 'warehouse' | 'sections'>): Config {
  const parsed = configSchema.parse({
    ...sections,
    api: { base_url: baseUrl, token: TOKEN, requests_per_minute: 'unlimited', ...sections['api'] },
    reports: { refresh_after: '0d', ...sections['reports'] },
    warehouse: { path: warehouse, memory_limit: '256MB', ...sections['warehouse'] },
  });
  return { ...parsed, file: join(warehouse, 'indexhouse.yaml') };
}

/** A clock that only the test moves, and what is slept, which takes no time but gives what is under way a turn. */
export class Clock {
  /** Every wait that was asked for, in milliseconds. */
  readonly slept: number[] = [];

  constructor(public now = Date.parse('2025-03-01T02:00:00.000Z')) {}

  readonly effects: RunEffects = {
    ...realRunEffects,
    now: () => this.now,
    sleep: async (ms) => {
      this.slept.push(ms);
      this.now += ms;
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}
