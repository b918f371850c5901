import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { beforeAll, beforeEach, expect } from 'vitest';
import { withEngine } from '../../../src/base/storage/engine.js';
import { follow, followersOf } from '../../../src/warehouse/copies/follow.js';
import type { Compared, FollowerLag } from '../../../src/warehouse/copies/follower.js';
import { listTableFiles } from '../../../src/warehouse/log/folder/layout.js';
import { DATA_TABLES } from '../../../src/warehouse/log/folder/tables.js';
import { type Log, openLog } from '../../../src/warehouse/log/log.js';
import { type GivenBucket, startBucket } from '../../given/bucket.js';
import { countsIn } from '../../given/counts.js';
import { temporaryFolder } from '../../given/folder.js';
import { readParquet } from '../../given/parquet.js';
import { buildNights } from '../../given/thinned.js';
import { configFor, sharedWarehouse } from '../../given/warehouse.js';

const TABLES = [...DATA_TABLES, 'snapshots', 'runs'] as const;
type Counts = Record<string, number>;
export const IS_NEVER_BEHIND = { behind: 0, exact: true, held: null, error: null };

let server: GivenBucket;

/** A warehouse, the rows of its Parquet files, and an empty bucket for each test. */
export function givenNights() {
  const built = sharedWarehouse(() => buildNights([1, 2, 3]));
  const given = {
    all: {} as Counts,
    get path() {
      return built.path;
    },
    /** What the bucket was asked for. */
    get requests() {
      return server.requests;
    },
    emptyBucket() {
      server.objects.clear();
      server.fault = null;
    },
  };
  beforeAll(async () => {
    given.all = await fileRows(given.path);
    server = await startBucket({ pageSize: 5, prefix: '/nights' });
  });
  beforeEach(given.emptyBucket);
  return given;
}

interface Case {
  /** Of the follower, in the receipt. */
  name: string;
  sections(): Record<string, Record<string, unknown>>;
  /** How many rows of each table another reader finds there. */
  rows(warehouse: string): Promise<Counts>;
  /** Deletes the copy. */
  lose(warehouse: string): void;
}

const file = (name: string) => ({
  sections: () => ({}),
  rows: (warehouse: string) => countsIn(join(warehouse, name), [...TABLES]),
  lose: (warehouse: string) => rmSync(join(warehouse, name)),
});
export const DUCKDB: Case = { name: 'duckdb', ...file('indexhouse.duckdb') };
export const CASES: readonly Case[] = [
  DUCKDB,
  { name: 'analytics', ...file('analytics.duckdb') },
  {
    name: 'bucket',
    sections: () => ({ bucket: server.url }),
    rows: async () => fileRows(downloaded()),
    lose: () => server.objects.clear(),
  },
];

export function upToDate({ name }: Case) {
  return [{ name, behind: 0 }];
}

export function configOf(warehouse: string, { sections }: Case) {
  return configFor({ baseUrl: 'http://127.0.0.1:1', warehouse, sections: sections() });
}

export function followerFor(warehouse: string, one: Case) {
  return followersOf(configOf(warehouse, one)).find(({ name }) => name === one.name) ?? expect.fail();
}

export function catchUp(warehouse: string, one: Case) {
  return follow([followerFor(warehouse, one)], configOf(warehouse, one));
}

export function lag(warehouse: string, one: Case): Promise<FollowerLag> {
  return withLog(warehouse, (log, options) => followerFor(warehouse, one).lag(log, options));
}

export function compared(warehouse: string, one: Case): Promise<Compared> {
  return withLog(warehouse, (log, options) => followerFor(warehouse, one).compare(log, options, { repair: false }));
}

export function withLog<T>(
  warehouse: string,
  use: (log: Log, options: { memoryLimit: number; temporary: string }) => Promise<T>,
): Promise<T> {
  const options = { memoryLimit: 256e6, temporary: temporaryFolder() };
  return withEngine(options, async (engine) => use(await openLog(engine, warehouse), options));
}

/** What the bucket holds, as a folder. */
function downloaded(): string {
  const folder = temporaryFolder();
  for (const [key, { body }] of server.objects) {
    const path = join(folder, key.replace('nights/', ''));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, body);
  }
  return folder;
}

/** Of the Parquet files of a folder, but for those of commits that are dropped: `<table> <commit>`. */
export async function fileRows(folder: string, dropped: ReadonlySet<string> = new Set()): Promise<Counts> {
  const counts: Counts = {};
  for (const table of TABLES) {
    const files = await listTableFiles(folder, table);
    const kept = files.filter((path) => !dropped.has(`${table} ${basename(path, '.parquet')}`));
    const rows = await Promise.all(kept.map(async (path) => (await readParquet(path)).length));
    counts[table] = rows.reduce((sum, more) => sum + more, 0);
  }
  return counts;
}
