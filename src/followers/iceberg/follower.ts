import { stat } from 'node:fs/promises';
import { basename, relative, sep } from 'node:path';
import { crashPoint } from '../../storage/crash-point.js';
import { websiteOf } from '../../warehouse/damage.js';
import { fileOf, tableOf } from '../../warehouse/markers.js';
import type { OpenWarehouse } from '../../warehouse/open.js';
import { DATA_TABLES, MARKER_TABLES, type Table } from '../../warehouse/tables.js';
import type { CheckedFollower, Commit } from '../follower.js';
import { REMEDY } from './metadata.js';
import { localPlace, type Place } from './place.js';
import { IcebergTable, type TableFile } from './table.js';

const DATE_FOLDER = /[/\\]date=(\d{4}-\d{2}-\d{2})[/\\]/;
/** In the order in which they are published: what a snapshot names comes before it. */
export const PUBLISHED = [...DATA_TABLES, 'page_state', 'runs', 'tombstones', 'replays', 'snapshots'] as const;

export interface IcebergOptions {
  /** How far back readers can travel: milliseconds. */
  history: number;
  place?: Place;
  now?: () => number;
}

/**
 * Publishes the log as Apache Iceberg tables: metadata under `iceberg/<table>/metadata` that names the Parquet files
 * where they are. The commits of a run, or of a replay, are one snapshot of the tables that they have rows in.
 */
export class IcebergTables implements CheckedFollower {
  readonly name = 'iceberg';
  readonly title = 'the Iceberg tables';
  readonly remedy = REMEDY;
  /** Tables whose earlier snapshots name files that are deleted. */
  readonly #withoutHistory = new Set<Table>(['page_state']);
  /** The run whose commits are no snapshot yet, and when the newest of them was made. */
  #run: { id: string; at: number } | null = null;

  private constructor(
    private readonly log: OpenWarehouse,
    private readonly tables: ReadonlyMap<Table, IcebergTable>,
    private readonly place: Place,
    private readonly now: () => number,
    /** Older commits are one snapshot together. Milliseconds since 1970. */
    private readonly historyFrom: number,
  ) {}

  static async open(log: OpenWarehouse, options: IcebergOptions): Promise<IcebergTables> {
    const { history, place = localPlace(log.path), now = Date.now } = options;
    const tables = new Map<Table, IcebergTable>();
    for (const table of PUBLISHED) tables.set(table, await IcebergTable.open(place, table));
    return new IcebergTables(log, tables, place, now, now() - history);
  }

  /** None where a table is missing: each commit is taken again, and the tables that have it stay as they are. */
  async known(): Promise<ReadonlySet<string>> {
    if ([...this.tables.values()].some(({ isNew }) => isNew)) return new Set();
    return new Set([...(await this.#idsIn('snapshots')), ...(await this.#idsIn('replays'))]);
  }

  async drop({ tombstones, tombstoneFiles, markers }: OpenWarehouse): Promise<void> {
    const taken = new Set(await this.#idsIn('tombstones'));
    const lacking = tombstoneFiles.filter((file) => !taken.has(idOf(file)));
    if (lacking.length === 0) return;
    const byId = new Map(markers.map((marker) => [marker.commitId, marker]));
    for (const { tombstone_id, table_name, commit_id } of tombstones) {
      const marker = byId.get(commit_id);
      const table = DATA_TABLES.find((name) => name === table_name);
      if (taken.has(tombstone_id) || !marker || !table) continue;
      this.#table(table).remove({ ...this.#named(fileOf(this.log.path, marker, table)), rows: 0, bytes: 0 });
      this.#withoutHistory.add(table);
    }
    for (const file of await this.#facts(lacking)) this.#table('tombstones').add(file);
  }

  async take({ marker, state }: Commit): Promise<void> {
    const tables = DATA_TABLES.filter((table) => Object.hasOwn(marker.files, table));
    const files: [Table, TableFile][] = [];
    // Of all first: one that cannot be read leaves the whole commit out.
    for (const table of tables) {
      const path = fileOf(this.log.path, marker, table);
      const rows = marker.files[table]?.rows ?? 0;
      files.push([table, { ...this.#named(path), rows, bytes: (await stat(path)).size }]);
    }
    const at = Date.parse(marker.committedAt);
    if (marker.runId !== this.#run?.id && at >= this.historyFrom) await this.#endRun();
    const [markerFile, stateFile] = await this.#facts([marker.path, ...(state === null ? [] : [state])]);
    if (stateFile) await this.#replaceState(stateFile);
    for (const [table, file] of files) this.#table(table).add(file);
    if (markerFile) this.#table(tableOf(marker)).add(markerFile);
    this.#run = { id: marker.runId, at: Math.max(at, this.#run?.at ?? 0) };
  }

  async finish({ runs }: OpenWarehouse): Promise<string[]> {
    await this.#endRun();
    const now = this.now();
    const taken = new Set(await this.#idsIn('runs'));
    for (const file of await this.#facts(runs.filter((path) => !taken.has(idOf(path))))) this.#table('runs').add(file);
    for (const [table, published] of this.tables) {
      await published.snapshot(now);
      await published.publish(this.#withoutHistory.has(table) ? Number.POSITIVE_INFINITY : this.historyFrom, now);
      crashPoint(`published iceberg ${table}`);
    }
    return [];
  }

  async differences(log: OpenWarehouse): Promise<string[]> {
    const known = await this.known();
    const found: string[] = [];
    for (const table of [...DATA_TABLES, ...MARKER_TABLES]) {
      const expected = log.files(table).filter((path) => known.has(idOf(path)));
      const there = new Set((await this.#table(table).files()).map(({ address }) => address));
      const lacking = expected.filter((path) => !there.delete(this.#named(path).address));
      if (lacking[0] !== undefined)
        found.push(`the Iceberg table ${table} lacks ${lacking.length} files: ${lacking[0]}`);
      const [more] = there;
      if (more !== undefined) found.push(`the Iceberg table ${table} has ${there.size} files too many: ${more}`);
    }
    return found;
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

  /** Of files of which the markers do not tell it: the size and the number of rows, with what the path tells. */
  async #facts(paths: readonly string[]): Promise<TableFile[]> {
    const rows = await this.log.rowCounts(paths);
    const facts = async (path: string) => ({
      ...this.#named(path),
      rows: rows.get(path) ?? 0,
      bytes: (await stat(path)).size,
    });
    return Promise.all(paths.map(facts));
  }

  #named(path: string): Pick<TableFile, 'address' | 'websiteId' | 'date'> {
    const address = this.place.address(relative(this.log.path, path).split(sep).join('/'));
    return { address, websiteId: websiteOf(path), date: DATE_FOLDER.exec(path)?.[1] ?? null };
  }
}

/** The id of a commit, a run or a tombstone, after which its file is named. */
function idOf(path: string): string {
  return basename(path, '.parquet');
}
