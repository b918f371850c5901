import { randomUUID } from 'node:crypto';
import type { Table } from '../../warehouse/tables.js';
import {
  type DataFile,
  type ManifestFile,
  manifestFile,
  readManifest,
  readManifestList,
  writeManifest,
  writeManifestList,
} from './manifests.js';
import {
  adoptSchema,
  emptyMetadata,
  type Metadata,
  NO_SNAPSHOT,
  parseMetadata,
  REMEDY,
  type Snapshot,
} from './metadata.js';
import type { Place } from './place.js';

/** A property of the table: files that no snapshot needs any more, and that are still to be deleted. */
const EXPIRED = 'indexhouse.expired';
/** A property of a snapshot: the manifests of the one before that it has others for. */
const REPLACED = 'indexhouse.replaced';

/** A file as it comes into a table, or leaves it. */
export type TableFile = Omit<DataFile, 'since'>;

/** A snapshot that was made of what was added and removed. */
interface Made {
  sequence: number;
  /** Milliseconds since 1970. */
  at: number;
  operation: 'append' | 'overwrite';
  /** Addresses of manifests that it has others for. */
  replaced: readonly string[];
}

interface Month {
  line: ManifestFile;
  /** Null until somebody asks for them. */
  files: DataFile[] | null;
}

/**
 * One Iceberg v2 table over files that lie elsewhere: it writes metadata alone. There is one manifest for each month of
 * `snapshot_date`, so that a night writes that of its month again and leaves the others as they are. A snapshot's id is
 * its sequence number.
 */
export class IcebergTable {
  #months = new Map<string, Month>();
  #added: TableFile[] = [];
  #removed: TableFile[] = [];

  private constructor(
    private readonly place: Place,
    readonly table: Table,
    /** Of the newest metadata file; 0 before there is one. */
    private version: number,
    private readonly metadata: Metadata,
    /** Whether the metadata differs from that file. */
    private isChanged: boolean,
  ) {}

  /** The table as it was published last. One that was published under another address begins anew. */
  static async open(place: Place, table: Table): Promise<IcebergTable> {
    const folder = folderOf(table);
    const names = await place.names(folder);
    const version = Math.max(0, ...names.map((name) => Number(/^v(\d+)\.metadata\.json$/.exec(name)?.[1] ?? 0)));
    const bytes = version === 0 ? null : await place.read(`${folder}/v${version}.metadata.json`);
    const known = bytes && parseMetadata(bytes);
    const location = place.address(`iceberg/${table}`);
    const metadata = known?.location === location ? known : emptyMetadata(table, location, known);
    const isChanged = adoptSchema({ metadata, table }) || metadata !== known;
    const opened = new IcebergTable(place, table, version, metadata, isChanged);
    await opened.#readMonths();
    return opened;
  }

  /** All files of the table. */
  async files(): Promise<DataFile[]> {
    const files: DataFile[] = [];
    for (const name of this.#months.keys()) files.push(...(await this.#filesOf(name)));
    return files;
  }

  /** Adds a file with the next snapshot, unless the table has it. */
  add(file: TableFile): void {
    this.#added.push(file);
  }

  /** Removes a file with the next snapshot. */
  remove(file: TableFile): void {
    this.#removed.push(file);
  }

  /** Makes a snapshot of what was added and removed since the last one; none where nothing was. */
  async snapshot(at: number): Promise<void> {
    const [added, removed] = [this.#added, this.#removed];
    [this.#added, this.#removed] = [[], []];
    const sequence = this.metadata['last-sequence-number'] + 1;
    const replaced: string[] = [];
    for (const month of new Set([...added, ...removed].map(monthOf))) {
      const files = await this.#filesOf(month);
      const next = changed(
        files,
        added.filter((file) => monthOf(file) === month),
        removed,
        sequence,
      );
      if (next === null) continue;
      const before = this.#months.get(month)?.line.manifest_path;
      if (before !== undefined) replaced.push(before);
      await this.#writeMonth(month, next, sequence);
      this.isChanged = true;
      this.metadata['last-sequence-number'] = sequence;
    }
    if (this.metadata['last-sequence-number'] !== sequence) return;
    await this.#addSnapshot({ sequence, at, operation: removed.length === 0 ? 'append' : 'overwrite', replaced });
  }

  /**
   * Publishes the snapshots that were made: the next version of the metadata, unless somebody else wrote it, and then
   * the hint of which one it is.
   *
   * @param historyFrom earlier snapshots go, but for the newest; milliseconds since 1970
   */
  async publish(historyFrom: number): Promise<void> {
    const folder = folderOf(this.table);
    if (this.isChanged) {
      await this.#expire(historyFrom);
      this.version++;
      const file = `${folder}/v${this.version}.metadata.json`;
      if (!(await this.place.create(file, Buffer.from(JSON.stringify(this.metadata))))) {
        throw new Error(`${this.place.address(file)} was written by another process at the same time`);
      }
      this.isChanged = false;
    }
    const hint = `${folder}/version-hint.text`;
    const hinted = await this.place.read(hint);
    if (hinted?.toString() !== String(this.version)) await this.place.replace(hint, Buffer.from(String(this.version)));
  }

  /** How many rows the newest snapshot holds. */
  get rows(): number {
    return [...this.#months.values()].reduce(
      (rows, { line }) => rows + line.added_rows_count + line.existing_rows_count,
      0,
    );
  }

  async #readMonths(): Promise<void> {
    const current = this.metadata.snapshots.find((one) => one['snapshot-id'] === this.metadata['current-snapshot-id']);
    if (!current) return;
    const bytes = await this.#readAt(current['manifest-list']);
    for (const line of await readManifestList(bytes)) {
      const month = /([^/]+)-\d+-[^-/]+\.avro$/.exec(line.manifest_path)?.[1] ?? '';
      this.#months.set(month, { line, files: null });
    }
  }

  async #filesOf(name: string): Promise<DataFile[]> {
    const month = this.#months.get(name);
    if (!month) return [];
    month.files ??= await readManifest(this.table, await this.#readAt(month.line.manifest_path));
    return month.files;
  }

  async #readAt(address: string): Promise<Buffer> {
    const bytes = await this.place.read(`${folderOf(this.table)}/${nameOf(address)}`);
    if (!bytes) throw new Error(`${address} is missing; ${REMEDY}`);
    return bytes;
  }

  async #writeMonth(month: string, files: DataFile[], sequence: number): Promise<void> {
    if (files.length === 0) {
      this.#months.delete(month);
      return;
    }
    const bytes = await writeManifest(this.table, files, sequence);
    const address = await this.#write(`${month}-${sequence}`, bytes);
    const line = manifestFile(files, { address, length: bytes.length, sequence });
    this.#months.set(month, { line, files });
  }

  async #addSnapshot({ sequence, at, operation, replaced }: Made): Promise<void> {
    const { metadata } = this;
    const lines = [...this.#months.values()].map(({ line }) => line);
    const files = lines.reduce((sum, line) => sum + line.added_files_count + line.existing_files_count, 0);
    const parent = metadata['current-snapshot-id'];
    const time = Math.max(at, metadata['last-updated-ms']);
    metadata.snapshots.push({
      'snapshot-id': sequence,
      ...(parent === NO_SNAPSHOT ? {} : { 'parent-snapshot-id': parent }),
      'sequence-number': sequence,
      'timestamp-ms': time,
      'manifest-list': await this.#write(`snap-${sequence}`, await writeManifestList(lines, sequence)),
      'schema-id': metadata.schemas.length - 1,
      summary: {
        operation,
        'total-records': String(this.rows),
        'total-data-files': String(files),
        [REPLACED]: replaced.map(nameOf).join(' '),
      },
    });
    metadata['last-updated-ms'] = time;
    metadata['current-snapshot-id'] = sequence;
    metadata['refs'] = { main: { 'snapshot-id': sequence, type: 'branch' } };
  }

  /** Under a name that no other attempt has: what one that died wrote is replaced by nobody. */
  async #write(name: string, bytes: Uint8Array): Promise<string> {
    const path = `${folderOf(this.table)}/${name}-${randomUUID().slice(0, 8)}.avro`;
    await this.place.write(path, bytes);
    return this.place.address(path);
  }

  /** A manifest was needed last by the snapshot before the one that replaced it. */
  async #expire(historyFrom: number): Promise<void> {
    const { metadata } = this;
    const current = metadata['current-snapshot-id'];
    const isKept = (one: Snapshot) => one['snapshot-id'] === current || one['timestamp-ms'] >= historyFrom;
    const kept = metadata.snapshots.filter(isKept);
    const gone = metadata.snapshots.filter((one) => !isKept(one));
    const unneeded = [
      ...(metadata.properties[EXPIRED]?.split(' ') ?? []),
      ...gone.map((one) => nameOf(one['manifest-list'])),
      ...(gone.length === 0 ? [] : [...gone, ...kept.slice(0, 1)]).flatMap(
        (one) => one.summary[REPLACED]?.split(' ') ?? [],
      ),
      ...(this.version > 0 ? [`v${this.version}.metadata.json`] : []),
    ];
    const left: string[] = [];
    for (const name of new Set(unneeded)) {
      if (name !== '' && !(await this.place.expire(`${folderOf(this.table)}/${name}`))) left.push(name);
    }
    metadata.snapshots = kept;
    metadata['snapshot-log'] = kept.map((one) => ({
      'snapshot-id': one['snapshot-id'],
      'timestamp-ms': one['timestamp-ms'],
    }));
    metadata.properties[EXPIRED] = left.join(' ');
  }
}

function changed(
  files: readonly DataFile[],
  added: readonly TableFile[],
  removed: readonly TableFile[],
  since: number,
): DataFile[] | null {
  const gone = new Set(removed.map(({ address }) => address));
  const kept = files.filter(({ address }) => !gone.has(address));
  const there = new Set(kept.map(({ address }) => address));
  const fresh = added.filter(({ address }) => !there.has(address));
  if (fresh.length === 0 && kept.length === files.length) return null;
  return [...kept, ...fresh.map((file) => ({ ...file, since }))];
}

function folderOf(table: Table): string {
  return `iceberg/${table}/metadata`;
}

function monthOf({ date }: TableFile): string {
  return date?.slice(0, 7) ?? 'all';
}

function nameOf(address: string): string {
  return address.slice(address.lastIndexOf('/') + 1);
}
