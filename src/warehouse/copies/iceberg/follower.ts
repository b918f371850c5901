import { stat } from 'node:fs/promises';
import { basename, relative, sep } from 'node:path';
import { z } from 'zod';
import type { BucketConfig } from '../../../base/config/bucket.js';
import { counted } from '../../../base/observe/format.js';
import { crashPoint } from '../../../base/storage/crash-point.js';
import { identifier } from '../../../base/storage/sql.js';
import { withBucketOf } from '../../bucket/lease.js';
import { websiteOf } from '../../log/folder/layout.js';
import { columnsOf, DATA_TABLES, LOOSE_TABLES, type Table } from '../../log/folder/tables.js';
import type { Log } from '../../log/log.js';
import { dataFilesOf, fileOf, newestMarkers, stateFileOf } from '../../log/markers.js';
import { type CheckedCopy, type Commit, type Difference, type Held, lagging, removedIn } from '../follower.js';
import { REMEDY } from './metadata.js';
import { bucketPlace, folderPlace, type Place } from './place.js';
import { IcebergTable, type NamedFile, type TableFile } from './table.js';

const DATE_FOLDER = /[/\\]date=(\d{4}-\d{2}-\d{2})[/\\]/;
/** In the order in which they are published: what a row of `snapshots` names comes before it. */
export const PUBLISHED = [...DATA_TABLES, 'page_state', 'runs', 'note_log', 'tombstones', 'snapshots'] as const;

const countsRow = z.object({ rows: z.coerce.number(), nulls: z.array(z.coerce.number()) });

export interface IcebergOptions {
  place: Place;
  /** How far back readers can travel: milliseconds. */
  history: number;
  now?: () => number;
}

/** Opens the tables in the bucket, if there is one, else in the folder. @throws BucketError */
export function withIcebergTables<T>(
  { bucket: config, history }: { bucket: BucketConfig | undefined; history: number },
  log: Log,
  work: (copy: CheckedCopy) => Promise<T>,
  isAwaited = false,
): Promise<T> {
  const open = async (place: Place) => work(await IcebergTables.open(log, { place, history }));
  if (!config) return open(folderPlace(log.path));
  return withBucketOf(log.path, config, (bucket) => open(bucketPlace(bucket)), isAwaited);
}

/**
 * Publishes the log as Apache Iceberg tables: metadata under `iceberg/<table>/metadata` that names the Parquet files
 * where they are. The commits of a run become one Iceberg snapshot of each table in which they have rows.
 */
export class IcebergTables implements CheckedCopy {
  readonly title = 'the Iceberg tables';
  /** Tables whose earlier snapshots name files that are deleted. */
  readonly #withoutHistory = new Set<Table>(['page_state']);
  /** The run whose commits are not in an Iceberg snapshot yet, and when the newest of them was made. */
  #run: { id: string; at: number } | null = null;

  private constructor(
    private readonly log: Log,
    private readonly tables: ReadonlyMap<Table, IcebergTable>,
    private readonly place: Place,
    private readonly now: number,
    /** Older commits share one Iceberg snapshot. Milliseconds since 1970. */
    private readonly historyFrom: number,
  ) {}

  static async open(log: Log, { place, history, now = Date.now }: IcebergOptions): Promise<IcebergTables> {
    const open = async (fromScratch = false) => {
      const openOne = async (table: Table) => [table, await IcebergTable.open(place, table, fromScratch)] as const;
      // It is published last: what it names is in the other tables, also if they are published meanwhile.
      const last = await openOne('snapshots');
      const others = await Promise.all(PUBLISHED.filter((table) => table !== 'snapshots').map(openOne));
      return new IcebergTables(log, new Map([...others, last]), place, now(), now() - history);
    };
    const opened = await open();
    return (await opened.#holdsRemoved()) ? open(true) : opened;
  }

  /** Whether something was removed from the log that is published: then the tables start from scratch. */
  async #holdsRemoved(): Promise<boolean> {
    const tables: Table[] = this.log.namesEveryRun ? ['snapshots', 'runs'] : ['snapshots'];
    const files = (await Promise.all(tables.map((table) => this.#table(table).files()))).flat();
    return (await removedIn(this.log, files.map(heldOf))).length > 0;
  }

  /** None if a table is missing: every commit is taken again, and tables that already have it do not change. */
  async known(): Promise<ReadonlySet<string>> {
    if ([...this.tables.values()].some(({ isNew }) => isNew)) return new Set();
    return new Set(await this.#idsIn('snapshots'));
  }

  async drop({ tombstones, tombstoneFiles, markers }: Log): Promise<void> {
    const taken = new Set(await this.#idsIn('tombstones'));
    const byId = new Map(markers.map((marker) => [marker.snapshotId, marker]));
    for (const { tombstone_id, table_name, snapshot_id } of tombstones) {
      const marker = byId.get(snapshot_id);
      const table = DATA_TABLES.find((name) => name === table_name);
      if (taken.has(tombstone_id) || !marker || !table) continue;
      this.#table(table).remove(this.#named(fileOf(this.log.path, marker, table)));
      this.#withoutHistory.add(table);
    }
    await this.#addLacking('tombstones', tombstoneFiles);
  }

  async take({ marker, state }: Commit): Promise<void> {
    const files: [Table, string][] = dataFilesOf(this.log.path, marker);
    if (state !== null) files.push(['page_state', state]);
    files.push(['snapshots', marker.path]);
    // For all files first: if one cannot be read, the whole commit is left out.
    const described: [Table, TableFile][] = [];
    for (const [table, path] of files) described.push([table, await this.#describe(table, path)]);
    const at = Date.parse(marker.committedAt);
    if (marker.runId !== this.#run?.id && at >= this.historyFrom) await this.#endRun();
    for (const [table, file] of described) {
      if (table === 'page_state') await this.#replaceState(file);
      else this.#table(table).add(file);
    }
    this.#run = { id: marker.runId, at: Math.max(at, this.#run?.at ?? 0) };
  }

  async finish(log: Log): Promise<string[]> {
    await this.#endRun();
    for (const { path } of await this.#resizedStates(log)) {
      await this.#replaceState(await this.#describe('page_state', path));
    }
    for (const [table] of LOOSE_TABLES) await this.#addLacking(table, log.files(table));
    for (const [table, published] of this.tables) {
      await published.snapshot(this.now);
      await published.publish(this.#withoutHistory.has(table) ? Number.POSITIVE_INFINITY : this.historyFrom, this.now);
      crashPoint(`published iceberg ${table}`);
    }
    return [];
  }

  async differences(log: Log): Promise<Difference[]> {
    const known = await this.known();
    const messages: string[] = [];
    const lags: Difference[] = [];
    const dropped = new Set(log.tombstones.map(({ table_name, snapshot_id }) => `${table_name} ${snapshot_id}`));
    for (const table of [...DATA_TABLES, 'snapshots'] as const) {
      const there = new Map((await this.#table(table).files()).map((file) => [file.address, heldOf(file)]));
      const lacking = log
        .files(table)
        .filter((path) => !there.delete(this.#named(path).address) && known.has(idOf(path)));
      if (lacking[0] !== undefined)
        messages.push(`the Iceberg table ${table} lacks ${counted(lacking.length, 'file')}: ${lacking[0]}`);
      const more = [...there.values()].filter(({ id }) => !dropped.has(`${table} ${id}`));
      const [first, ...rest] = await removedIn(log, more);
      if (first)
        messages.push(`the Iceberg table ${table} has ${counted(rest.length + 1, 'file')} too many: ${first.address}`);
      if (more.length < there.size)
        lags.push(lagging(`the Iceberg table ${table} still has files that retention removed`));
    }
    const differences = messages.map((message): Difference => ({ level: 'difference', message, remedy: REMEDY }));
    differences.push(...lags);
    for (const { path, published, bytes } of await this.#resizedStates(log)) {
      const message = `the Iceberg table page_state gives ${path} ${published} bytes, but it has ${bytes}`;
      differences.push({ level: 'difference', message, remedy: 'the next sync publishes it again' });
    }
    for (const [table] of LOOSE_TABLES) {
      const lacking = (await this.#lacking(table, log.files(table))).length;
      if (lacking > 0) differences.push(lagging(`the Iceberg table ${table} lacks ${counted(lacking, 'row')}`));
    }
    return differences;
  }

  /** The newest published states that have been rebuilt since: the same rows may have a different size in bytes. */
  async #resizedStates({ path: warehouse, markers }: Log) {
    const published = new Map((await this.#table('page_state').files()).map((file) => [file.address, file.bytes]));
    const resized: { path: string; published: number; bytes: number }[] = [];
    for (const marker of newestMarkers(markers)) {
      const path = stateFileOf(warehouse, marker);
      const before = published.get(this.#named(path).address);
      const bytes = before === undefined ? null : await this.place.stateSize(this.#pathIn(path));
      if (before !== undefined && bytes !== null && bytes !== before) resized.push({ path, published: before, bytes });
    }
    return resized;
  }

  async #endRun(): Promise<void> {
    if (!this.#run) return;
    for (const [table, one] of this.tables) if (!this.#withoutHistory.has(table)) await one.snapshot(this.#run.at);
    this.#run = null;
  }

  #table(table: Table): IcebergTable {
    const found = this.tables.get(table);
    if (!found) throw new TypeError(`${table} is not published`);
    return found;
  }

  async #idsIn(table: Table): Promise<string[]> {
    return (await this.#table(table).files()).map(({ address }) => idOf(address));
  }

  async #replaceState(state: TableFile): Promise<void> {
    const table = this.#table('page_state');
    for (const file of await table.files()) if (file.websiteId === state.websiteId) table.remove(file);
    table.add(state);
  }

  async #addLacking(table: Table, paths: readonly string[]): Promise<void> {
    for (const path of await this.#lacking(table, paths)) this.#table(table).add(await this.#describe(table, path));
  }

  /** By address, because the websites of a run, and of a note, share its id. */
  async #lacking(table: Table, paths: readonly string[]): Promise<string[]> {
    const taken = new Set((await this.#table(table).files()).map(({ address }) => address));
    return paths.filter((path) => !taken.has(this.#named(path).address));
  }

  /** What the metadata of a table says about a file. @throws EngineError if it cannot be read */
  async #describe(table: Table, path: string): Promise<TableFile> {
    const nulls = columnsOf(table).map(({ name }) => `count(*) - count(${identifier(name)})`);
    const query = `select count(*) as rows, [${nulls.join(', ')}] as nulls from (${this.log.query(table, [path])})`;
    const [counts] = await this.log.engine.rows(countsRow, query);
    if (!counts) throw new Error(`${path} cannot be counted`);
    const published = table === 'page_state' ? await this.place.stateSize(this.#pathIn(path)) : null;
    return { ...this.#named(path), ...counts, bytes: published ?? (await stat(path)).size };
  }

  #pathIn(path: string): string {
    return relative(this.log.path, path).split(sep).join('/');
  }

  #named(path: string): NamedFile {
    const address = this.place.address(this.#pathIn(path));
    return { address, websiteId: websiteOf(path), date: DATE_FOLDER.exec(path)?.[1] ?? null };
  }
}

function heldOf({ websiteId, address }: NamedFile): Held & { address: string } {
  return { websiteId, id: idOf(address), address };
}

/** The id of a commit or a tombstone, after which its file is named. */
function idOf(path: string): string {
  return basename(path, '.parquet');
}
