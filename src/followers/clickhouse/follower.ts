import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { z } from 'zod';
import type { ClickhouseConfig } from '../../config/clickhouse.js';
import { messageOf, UnreachableError } from '../../exit.js';
import { crashPoint } from '../../storage/crash-point.js';
import { type EngineOptions, withEngine } from '../../storage/engine.js';
import { websiteOf } from '../../warehouse/damage.js';
import { dataFilesOf, type Marker, newestMarkers, stateFileOf, tableOf } from '../../warehouse/markers.js';
import type { OpenWarehouse } from '../../warehouse/open.js';
import { columnsOf, DATA_TABLES, type DataTable, THINNED_TABLES } from '../../warehouse/tables.js';
import { type CheckedCopy, type Commit, type Difference, lagging } from '../follower.js';
import { migrate, NEXT_STATE } from './schema.js';
import { ClickhouseServer } from './server.js';

/** Ids that one statement binds: they are part of its address, which servers limit. */
const IDS_AT_ONCE = 200;

const idRow = z.object({ id: z.string() });
/** Counts arrive as text, because they may exceed JavaScript's numbers. */
const countRow = z.object({ id: z.string(), rows: z.coerce.number() });
const runRow = z.object({ website_id: z.string(), run_id: z.string() });
const summaryRow = z.record(z.string(), z.coerce.string());
/** Lists are left out: ClickHouse has empty lists instead of null ones. */
const STATE_COLUMNS = columnsOf('page_state').flatMap(({ name, type }) => (type.endsWith('[]') ? [] : [name]));
const STATE_SUMMARY = [
  'count() as pages',
  'max(listed_snapshot_id) as "as newest listing"',
  'max(report_snapshot_id) as "as newest report"',
  ...STATE_COLUMNS.map((name) => `count(${name}) as "values in ${name}"`),
].join(', ');

/** The tables of a warehouse in a ClickHouse database, which receives the Parquet files unchanged. */
export class ClickhouseTables implements CheckedCopy {
  readonly title: string;
  readonly #remedy: string;
  readonly #server: ClickhouseServer;

  constructor(
    config: ClickhouseConfig,
    private readonly log: OpenWarehouse,
  ) {
    this.title = `the database ${config.database} in ClickHouse`;
    this.#remedy = `\`drop database ${config.database}\` in ClickHouse, and the next sync fills it again`;
    this.#server = new ClickhouseServer(config);
  }

  async known(): Promise<ReadonlySet<string>> {
    const query = 'select snapshot_id as id from snapshots union all select replay_id as id from replays';
    return new Set((await this.#server.rowsIfThere(idRow, query)).map(({ id }) => id));
  }

  async drop({ tombstones, tombstoneFiles }: OpenWarehouse): Promise<void> {
    await migrate(this.#server);
    const rows = await this.#server.rows(idRow, 'select distinct tombstone_id as id from tombstones');
    const taken = new Set(rows.map(({ id }) => id));
    const lacking = tombstones.filter(({ tombstone_id: id }) => !taken.has(id));
    for (const table of THINNED_TABLES) {
      const ids = lacking.filter(({ table_name }) => table_name === table).map(({ commit_id }) => commit_id);
      for (let at = 0; at < ids.length; at += IDS_AT_ONCE) {
        const some = { ids: ids.slice(at, at + IDS_AT_ONCE) };
        await this.#server.run(`delete from ${table} where commit_id in {ids:Array(String)}`, some);
      }
    }
    crashPoint('followed the tombstones to ClickHouse');
    for (const file of tombstoneFiles) {
      if (!taken.has(basename(file, '.parquet'))) await this.#server.insertFile('tombstones', file);
    }
  }

  async take({ marker, state }: Commit): Promise<void> {
    for (const [table, rows] of await this.#counts(marker)) if (rows > 0) await this.#remove(table, marker);
    for (const [table, file] of dataFilesOf(this.log.path, marker)) {
      await this.#server.insertFile(table, file);
      crashPoint(`sent ${table} to ClickHouse`);
    }
    if (state !== null) await this.#replaceState(marker.websiteId, state);
    // A statement of an interrupted attempt may have continued for a while on the server.
    for (const [table, rows] of await this.#counts(marker)) {
      const expected = marker.files[table]?.rows ?? 0;
      if (rows !== expected) throw new Error(`${table} in ClickHouse has ${rows} rows of it, not ${expected}`);
    }
    await this.#server.insertFile(tableOf(marker), marker.path);
    crashPoint('sent the marker to ClickHouse');
  }

  async finish({ runs }: OpenWarehouse): Promise<string[]> {
    const known = new Set(await this.#runs());
    const skipped: string[] = [];
    for (const file of runs) {
      if (known.has(`${websiteOf(file)} ${basename(file, '.parquet')}`)) continue;
      try {
        await this.#server.insertFile('runs', file);
      } catch (error) {
        if (error instanceof UnreachableError) throw error;
        skipped.push(`${file}: ${messageOf(error)}`);
      }
    }
    return skipped;
  }

  async differences(log: OpenWarehouse, engine: EngineOptions): Promise<Difference[]> {
    const known = await this.known();
    if (known.size === 0) return [];
    const messages: string[] = [];
    const taken = log.markers.filter(({ commitId }) => known.has(commitId));
    const waiting = new Set(log.markers.flatMap(({ commitId }) => (known.has(commitId) ? [] : [commitId])));
    for (const table of DATA_TABLES) {
      const there = await this.#countByCommit(table);
      for (const marker of taken) {
        const rows = there.get(marker.commitId) ?? 0;
        there.delete(marker.commitId);
        const expected = marker.files[table]?.rows ?? 0;
        if (rows === expected || Object.hasOwn({ ...marker.absent, ...marker.unreadable }, table)) continue;
        messages.push(`${table} in ClickHouse has ${rows} rows of the commit ${marker.commitId}, not ${expected}`);
      }
      const [other] = [...there.keys()].filter((id) => !waiting.has(id));
      if (other !== undefined)
        messages.push(`${table} in ClickHouse has rows of ${other}, which the log does not have`);
    }
    messages.push(...(await this.#stateDifferences(log, known, engine)));
    const differs = (message: string): Difference => ({ level: 'difference', message, remedy: this.#remedy });
    return [...messages.map(differs), ...(await this.#runDifferences(log, differs))];
  }

  /**
   * Compares, for each website, the number of rows, the number of values in each column, and the newest listing and
   * report.
   */
  async #stateDifferences(log: OpenWarehouse, known: ReadonlySet<string>, engine: EngineOptions): Promise<string[]> {
    const newest = newestMarkers(log.markers).filter(({ commitId }) => known.has(commitId));
    const files = newest.map((marker) => stateFileOf(log.path, marker)).filter((file) => existsSync(file));
    const summary = (from: string) => `select website_id, ${STATE_SUMMARY} from ${from} group by website_id`;
    const here = await withEngine(engine, (opened) =>
      opened.rows(summaryRow, summary(`(${log.query('page_state', files)})`)),
    );
    const there = new Map(
      (await this.#server.rows(summaryRow, summary('page_state'))).map((row) => [row['website_id'], row]),
    );
    return here.flatMap(({ website_id: website, ...expected }) => {
      const found = there.get(website) ?? {};
      const [differing] = Object.entries(expected).filter(([name, value]) => (found[name] ?? '0') !== value);
      if (!differing) return [];
      const [name, wanted] = differing;
      return [`page_state in ClickHouse has ${found[name] ?? 0} ${name} of the website ${website}, not ${wanted}`];
    });
  }

  async #runDifferences({ runs }: OpenWarehouse, differs: (message: string) => Difference): Promise<Difference[]> {
    const lacking = new Set(runs.map((file) => `${websiteOf(file)} ${basename(file, '.parquet')}`));
    const more = (await this.#runs()).filter((run) => !lacking.delete(run));
    return [
      ...more.slice(0, 1).map((run) => differs(`runs in ClickHouse has ${more.length} rows too many: ${run}`)),
      ...(lacking.size > 0 ? [lagging(`runs in ClickHouse lacks ${lacking.size} rows`)] : []),
    ];
  }

  /** The number of rows of a commit in each table. */
  async #counts({ websiteId, commitId }: Marker): Promise<[DataTable, number][]> {
    const selects = DATA_TABLES.map(
      (table) =>
        `select '${table}' as id, count() as rows from ${table}
         where website_id = {website:String} and commit_id = {commit:String}`,
    );
    const bound = { website: websiteId, commit: commitId };
    const counted = await this.#server.rows(countRow, selects.join(' union all '), bound);
    const rows = new Map(counted.map(({ id, rows }) => [id, rows]));
    return DATA_TABLES.map((table) => [table, rows.get(table) ?? 0]);
  }

  /** `<website id> <run id>` of each row of `runs`. */
  async #runs(): Promise<string[]> {
    const rows = await this.#server.rows(runRow, 'select website_id, run_id from runs');
    return rows.map(({ website_id, run_id }) => `${website_id} ${run_id}`);
  }

  async #countByCommit(table: DataTable): Promise<Map<string, number>> {
    const rows = await this.#server.rows(countRow, `select commit_id as id, count() as rows from ${table} group by id`);
    return new Map(rows.map(({ id, rows: count }) => [id, count]));
  }

  /** Removes what an interrupted attempt has left. */
  async #remove(table: DataTable, { websiteId, commitId }: Marker): Promise<void> {
    const query = `delete from ${table} where website_id = {website:String} and commit_id = {commit:String}`;
    await this.#server.run(query, { website: websiteId, commit: commitId });
  }

  /** Replaces all pages of a website at once: queries meanwhile see the previous ones. */
  async #replaceState(website: string, file: string): Promise<void> {
    const server = this.#server;
    await server.run(`truncate table ${NEXT_STATE}`);
    await server.insertFile(NEXT_STATE, file);
    crashPoint('sent the state to ClickHouse');
    const bound = { website };
    const [first] = await server.rows(countRow, `select '' as id, count() as rows from ${NEXT_STATE}`);
    if (first?.rows === 0) return server.run('alter table page_state drop partition {website:String}', bound);
    await server.run(`alter table page_state replace partition {website:String} from ${NEXT_STATE}`, bound);
    crashPoint('replaced the state in ClickHouse');
  }
}
