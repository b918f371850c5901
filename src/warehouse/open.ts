import type { Engine } from '../storage/engine.js';
import { type DamagedFile, damagedFile, findTorn, viewReadable } from './damage.js';
import { listTableFiles } from './layout.js';
import { filesOf, type Log, type Marker, markerPaths, readLog, withoutUnreadable } from './markers.js';
import { schemasOf, tableQuery } from './prepare.js';
import { sha256Of } from './stage.js';
import { DATA_TABLES, MARKER_TABLES, type Table } from './tables.js';
import type { Tombstone } from './tombstones.js';

/**
 * A warehouse as it is at one moment, for everybody who reads it: the list of its runs, its markers and its tombstones,
 * read once and in the one order in which no reader sees half of a commit. Tables are mounted as views over exactly the
 * files that these name. Takes no lock. Files that cannot be read are left out and named in `damaged`.
 */
export class OpenWarehouse implements Log {
  private constructor(
    private readonly engine: Engine,
    readonly path: string,
    /** The folder whose empty files give each table its columns. */
    readonly schemas: string,
    /** Every file of `runs`. */
    readonly runs: readonly string[],
    private log: Log,
  ) {}

  /** @param temporary a folder outside the warehouse */
  static async read(engine: Engine, path: string, temporary: string): Promise<OpenWarehouse> {
    const schemas = await schemasOf(engine, path, temporary);
    // Before the markers, so that no run points to a snapshot that is not seen.
    const runs = await listTableFiles(path, 'runs');
    return new OpenWarehouse(engine, path, schemas, runs, await readLog(engine, path, schemas));
  }

  /** Every commit, oldest first. Their `files` are those that can be read. */
  get markers(): Marker[] {
    return this.log.markers;
  }

  /** Files that cannot be read. Mounting a table may find more. */
  get damaged(): DamagedFile[] {
    return this.log.damaged;
  }

  get tombstones(): Tombstone[] {
    return this.log.tombstones;
  }

  get tombstoneFiles(): string[] {
    return this.log.tombstoneFiles;
  }

  /** The files of a table that are there for readers. */
  files(table: Exclude<Table, 'page_state'>): readonly string[] {
    if (table === 'runs') return this.runs;
    if (table === 'tombstones') return this.tombstoneFiles;
    if (isMarkerTable(table)) return markerPaths(this.markers, table);
    return filesOf(this.path, this.markers, table);
  }

  /** A query over some files of a table. */
  query(table: Table, files: readonly string[]): string {
    return tableQuery(this.schemas, table, files);
  }

  /** Makes the view of a table over its files, or over these; what cannot be read is left out. */
  async mount(table: Table, files = table === 'page_state' ? [] : this.files(table)): Promise<void> {
    this.leaveOut(await viewReadable(this.engine, table, { schemas: this.schemas, table, files }));
  }

  /** Finds the files of commits that are missing, empty or cut short, whatever of them is mounted. Quick. */
  async findTorn(): Promise<DamagedFile[]> {
    const torn = DATA_TABLES.map((table) => findTorn(table, filesOf(this.path, this.markers, table)));
    return (await Promise.all(torn)).flat();
  }

  /** Finds the files whose bytes are not those of their commit. Reads every one of them. */
  async findChanged(): Promise<DamagedFile[]> {
    const changed: DamagedFile[] = [];
    for (const marker of this.markers) {
      for (const table of DATA_TABLES) {
        const [file] = filesOf(this.path, [marker], table);
        if (file === undefined || (await sha256Of(file)) === marker.files[table]?.sha256) continue;
        changed.push(damagedFile(table, file, 'was changed after its commit'));
      }
    }
    return changed;
  }

  /** Counts files as damaged, and their commits as without them. */
  leaveOut(damaged: readonly DamagedFile[]): void {
    if (damaged.length === 0) return;
    const markers = withoutUnreadable(this.markers, damaged);
    this.log = { ...this.log, markers, damaged: [...this.damaged, ...damaged] };
  }
}

function isMarkerTable(table: Table): table is (typeof MARKER_TABLES)[number] {
  return MARKER_TABLES.some((marker) => marker === table);
}
