import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type { Config } from '../../src/config/schema.js';
import { followersOf, follow as letFollow } from '../../src/followers/follow.js';
import type { FollowerState } from '../../src/followers/follower.js';
import { type Engine, withEngine } from '../../src/storage/engine.js';
import { sqlNames } from '../../src/storage/sql.js';
import { newestMarkers, stateFileOf } from '../../src/warehouse/markers.js';
import { OpenWarehouse } from '../../src/warehouse/open.js';
import { TABLES } from '../../src/warehouse/tables.js';
import { testAtLength } from '../given/at-length.js';
import { type GivenClickhouse, PASSWORD, startClickhouse } from '../given/clickhouse.js';
import { temporaryFolder } from '../given/folder.js';
import { seededRandom } from '../given/random.js';
import { buildNights, maintainAt, NOW } from '../given/thinned.js';
import { type BuiltWarehouse, buildWarehouse, configFor } from '../given/warehouse.js';

const ODD = `a/b é%*'\\{x:String}"; drop table coverage`;
const row = z.record(z.string(), z.unknown());
const CUTS = 20;
const clean: (() => void)[] = [];
let built: BuiltWarehouse;
let server: GivenClickhouse;

beforeAll(async () => {
  const pages = ['p', 'q'].map((name) => ({ url: `https://a.example/${name}` }));
  built = await buildWarehouse([
    { at: '2025-03-01T02:00:00Z', lists: { [ODD]: pages, shop: pages } },
    { at: '2025-03-02T02:00:00Z', lists: { [ODD]: pages.slice(1) } },
  ]);
  server = await startClickhouse(temporaryFolder((each) => void clean.push(each)));
});
afterAll(async () => {
  built.remove();
  await server.close();
  for (const each of clean) each();
});
beforeEach(() => server.reset());

describe('ClickHouse', () => {
  test('has the rows of every table, and takes each commit once, its marker last', async () => {
    expect(await follow(built.path)).toEqual({ name: 'clickhouse', behind: 0 });
    await expectEqual(built.path);
    const inserted = server.statements.flatMap((statement) => /^INSERT INTO "(\w+)"/.exec(statement)?.[1] ?? []);
    expect(inserted.slice(0, 3)).toEqual(['coverage', 'coverage_summary', 'url_reports']);
    expect(inserted.filter((table) => table === 'page_state_next')).toHaveLength(2);
    expect(inserted.at(inserted.indexOf('page_state_next') + 1)).toBe('snapshots');
    const views = server.statements.filter((statement) => /^create or replace view/m.test(statement));
    expect(views).toHaveLength(sqlNames('clickhouse').length);
    server.statements.length = 0;
    await follow(built.path);
    expect(server.statements.filter((statement) => !/^\s*select/.test(statement))).toEqual([]);
  });

  testAtLength('broken off at any statement, it has no marker without its rows, and ends up the same', async () => {
    await follow(built.path);
    const total = server.statements.length;
    for (const seed of Array.from({ length: CUTS }, (_, at) => at)) {
      await server.reset();
      const cut = Math.floor(seededRandom(seed)() * total);
      server.fault = (number) => (number < cut ? null : number === cut && seed % 2 ? 'after' : 'before');
      const { behind, reason } = await follow(built.path);
      expect([behind, reason]).toEqual([1, expect.stringContaining('cannot be reached')]);
      server.fault = null;
      await expectNoMarkerBeforeItsRows(built.path);
      expect(await follow(built.path)).toEqual({ name: 'clickhouse', behind: 0 });
      await expectEqual(built.path);
    }
  });

  testAtLength('lacks the rows that retention removed', async () => {
    const nights = await buildNights([1, 3, 5, 9, 18]);
    onTestFinished(nights.remove);
    const warehouse = nights.path;
    await follow(warehouse);
    await maintainAt(warehouse, { now: NOW });
    expect(await follow(warehouse)).toEqual({ name: 'clickhouse', behind: 0 });
    await expectEqual(warehouse);
    expect(await differences(warehouse)).toEqual([]);
    const [{ rows = 0 } = {}] = await server.rows('select count(*)::integer as rows from tombstones');
    expect(rows).toBeGreaterThan(0);
  });

  testAtLength('gets the columns that a newer version added', async () => {
    await follow(built.path);
    await server.rows('alter table coverage drop column extra');
    await server.rows('alter table page_state_next drop column unlisted_since');
    await follow(built.path);
    await server.rows('select extra from coverage');
    await server.rows('select unlisted_since from page_state_next');
  });

  test('is compared with the log', async () => {
    await follow(built.path);
    expect(await differences(built.path)).toEqual([]);
    await server.rows(`delete from coverage where website_id = 'shop'`);
    await server.rows(
      `insert into url_reports by name select * replace ('other' as commit_id) from url_reports limit 1`,
    );
    await server.rows(`delete from page_state where website_id = 'shop'`);
    await server.rows(`update page_state set listed_at = null`);
    const [run] = await server.rows('select run_id from runs order by run_id limit 1');
    await server.rows(`insert into runs by name select * from runs where run_id = '${run?.['run_id']}' limit 1`);
    expect(await differences(built.path)).toEqual([
      expect.stringMatching(/^coverage in ClickHouse has 0 rows of the commit \S+, not 2$/),
      'url_reports in ClickHouse has rows of other, which the log does not have',
      expect.stringMatching(/^page_state in ClickHouse has 0 values in listed_at of the website a\/b.*, not [12]$/),
      'page_state in ClickHouse has 0 pages of the website shop, not 2',
      expect.stringContaining(`runs in ClickHouse has 1 rows too many: `),
    ]);
  });

  testAtLength('is compared with the newest state, not with an older one of as many pages', async () => {
    await follow(built.path);
    const [shop] = await server.rows(`select max(listed_snapshot_id) as id from page_state where website_id = 'shop'`);
    await server.rows(`update page_state set listed_snapshot_id = 'older' where website_id = 'shop'`);
    expect(await differences(built.path)).toEqual([
      `page_state in ClickHouse has older as newest listing of the website shop, not ${shop?.['id']}`,
    ]);
  });

  test('that cannot be reached or refuses the password lags, and says why without the password', async () => {
    const { reason: refused = '' } = await follow(built.path, 'other');
    expect(refused).toContain(`ClickHouse at ${server.url} refused (AUTHENTICATION_FAILED): check clickhouse.user`);
    expect(refused).not.toContain(PASSWORD);
    const { behind, reason } = await follow(built.path, PASSWORD, 'http://127.0.0.1:1');
    expect([behind, reason]).toEqual([1, expect.stringContaining('(ECONNREFUSED): check clickhouse.url')]);
  });
});

async function follow(warehouse: string, password = PASSWORD, url = server.url): Promise<FollowerState> {
  const config = configOf(warehouse, password, url);
  const [state] = await letFollow(clickhouseOf(config), config);
  return state ?? { name: 'none', behind: 0 };
}

function clickhouseOf(config: Config) {
  return followersOf(config).filter(({ name }) => name === 'clickhouse');
}

function configOf(warehouse: string, password: string, url: string) {
  return configFor({ baseUrl: 'http://127.0.0.1:1', warehouse, sections: { clickhouse: { url, password } } });
}

async function differences(path: string): Promise<string[]> {
  const [follower] = clickhouseOf(configOf(path, PASSWORD, server.url));
  const engine = { memoryLimit: 256e6, temporary: join(path, '..', 'compared') };
  return withLog(path, async (log) => {
    const compared = await follower?.compare(log, engine, { repair: false });
    return (compared?.differences ?? []).filter(({ level }) => level === 'difference').map(({ message }) => message);
  });
}

/** Every table has the rows of the log, and no other. */
async function expectEqual(path: string): Promise<void> {
  await withLog(path, async (log, engine) => {
    for (const table of TABLES) {
      const states = newestMarkers(log.markers).map((marker) => stateFileOf(path, marker));
      await engine.view(table, log.query(table, table === 'page_state' ? states : log.files(table)));
      const query = `select * from ${table} order by all`;
      expect([table, await server.rows(query)]).toEqual([table, await engine.rows(row, query)]);
    }
  });
}

async function expectNoMarkerBeforeItsRows(path: string): Promise<void> {
  const lacking = (await differences(path)).filter((message) => / of the commit | pages of the website /.test(message));
  expect(lacking).toEqual([]);
}

function withLog<T>(path: string, work: (log: OpenWarehouse, engine: Engine) => Promise<T>): Promise<T> {
  const options = { memoryLimit: 256e6, temporary: join(path, '..', 'duckdb') };
  return withEngine(options, async (engine) => work(await OpenWarehouse.read(engine, path), engine));
}
