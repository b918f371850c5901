import { randomUUID } from 'node:crypto';
import { posix } from 'node:path';
import { z } from 'zod';
import { crashPoint } from '../../../base/storage/crash-point.js';
import { GRACE_MS } from '../../log/commit.js';
import { firstLine } from '../../log/folder/damage.js';
import type { Table } from '../../log/folder/tables.js';
import {
  type DataFile,
  type ManifestFile,
  manifestFile,
  readManifest,
  readManifestList,
  writeManifest,
  writeManifestList,
} from './manifests.js';
import { adoptSchema, emptyMetadata, type Metadata, NO_SNAPSHOT, parseMetadata, REMEDY } from './metadata.js';
import type { Place } from './place.js';

/** A property of the table: the metadata files that no new reader needs, and since when, in milliseconds since 1970. */
const EXPIRED = 'indexhouse.expired';
/** A property of a snapshot: the manifests of the previous one that it replaced. */
const REPLACED = 'indexhouse.replaced';

const expiredSchema = z.record(z.string(), z.number());

/** A file that is added to or removed from a table. */
export type TableFile = Omit<DataFile, 'since'>;
export type NamedFile = Pick<DataFile, 'address' | 'websiteId' | 'date'>;

/** A snapshot made from additions and removals. */
interface Made {
  sequence: number;
  /** Milliseconds since 1970. */
  at: number;
  operation: 'append' | 'overwrite';
  /** Addresses of the manifests that it replaced. */
  replaced: readonly string[];
}

interface Month {
  line: ManifestFile;
  /** Null until they are needed. */
  files: DataFile[] | null;
}

/**
 * One Iceberg v2 table over files that are stored elsewhere: it only writes metadata. There is one manifest per month
 * of `snapshot_date`, so that a night only rewrites the manifest of its month. A snapshot's id is its sequence number.
 */
export class IcebergTable {
  #months = new Map<string, Month>();
  #added: TableFile[] = [];
  #removed: NamedFile[] = [];

  private constructor(
    private readonly place: Place,
    readonly table: Table,
    /** Version of the newest metadata file; 0 before there is one. */
    private version: number,
    private readonly metadata: Metadata,
    /** Whether the metadata differs from that file. */
    private isChanged: boolean,
    /** Whether nothing was published at this address before. */
    readonly isNew: boolean,
  ) {}

  /** The table as last published, or an empty one if it was published under another address. */
  static async open(place: Place, table: Table, fromScratch = false): Promise<IcebergTable> {
    const folder = folderOf(table);
    const names = await place.names(folder);
    const version = Math.max(0, ...names.map((name) => Number(/^v(\d+)\.metadata\.json$/.exec(name)?.[1] ?? 0)));
    const file = `${folder}/v${version}.metadata.json`;
    const bytes = version === 0 ? null : await place.read(file);
    const known = bytes && (await readable(place.address(file), async () => parseMetadata(bytes)));
    const location = place.address(`iceberg/${table}`);
    const isNew = fromScratch || known?.location !== location;
    const metadata = isNew || !known ? emptyMetadata(table, location, known) : known;
    const isChanged = adoptSchema({ metadata, table }) || isNew;
    const opened = new IcebergTable(place, table, version, metadata, isChanged, isNew);
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
  remove(file: NamedFile): void {
    this.#removed.push(file);
  }

  /** Makes a snapshot of what was added and removed since the last one; none if nothing was. */
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
   * Publishes the snapshots that were made: the next version of the metadata, and then the version hint. Finally removes
   * files that have not been needed for an hour.
   *
   * @param historyFrom snapshots superseded before this are removed; milliseconds since 1970
   */
  async publish(historyFrom: number, now: number): Promise<void> {
    const folder = folderOf(this.table);
    const unneeded = this.isChanged ? await this.#expire(historyFrom, now) : [];
    if (this.isChanged) {
      this.version++;
      await this.place.write(`${folder}/v${this.version}.metadata.json`, Buffer.from(JSON.stringify(this.metadata)));
      this.isChanged = false;
      crashPoint(`wrote iceberg ${this.table}`);
    }
    const hint = `${folder}/version-hint.text`;
    const hinted = await this.place.read(hint);
    if (hinted?.toString() !== String(this.version)) await this.place.write(hint, Buffer.from(String(this.version)));
    for (const name of unneeded) await this.place.remove(`${folder}/${name}`);
  }

  /** The number of rows in the newest snapshot. */
  get rows(): number {
    return [...this.#months.values()].reduce(
      (rows, { line }) => rows + line.added_rows_count + line.existing_rows_count,
      0,
    );
  }

  async #readMonths(): Promise<void> {
    const current = this.metadata.snapshots.find((one) => one['snapshot-id'] === this.metadata['current-snapshot-id']);
    if (!current) return;
    for (const line of await this.#readAt(current['manifest-list'], readManifestList)) {
      const month = /([^/]+)-\d+-[^-/]+\.avro$/.exec(line.manifest_path)?.[1] ?? '';
      this.#months.set(month, { line, files: null });
    }
  }

  async #filesOf(name: string): Promise<DataFile[]> {
    const month = this.#months.get(name);
    if (!month) return [];
    month.files ??= await this.#readAt(month.line.manifest_path, (bytes) => readManifest(this.table, bytes));
    return month.files;
  }

  async #readAt<T>(address: string, read: (bytes: Uint8Array) => Promise<T>): Promise<T> {
    const bytes = await this.place.read(`${folderOf(this.table)}/${posix.basename(address)}`);
    if (!bytes) throw new Error(`${address} is missing; ${REMEDY}`);
    return readable(address, () => read(bytes));
  }

  async #writeMonth(month: string, files: DataFile[], sequence: number): Promise<void> {
    if (files.length === 0) {
      this.#months.delete(month);
      return;
    }
    const bytes = await writeManifest(this.table, files, { sequence, schemaId: this.#schemaId });
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
      'schema-id': this.#schemaId,
      summary: {
        operation,
        'total-records': String(this.rows),
        'total-data-files': String(files),
        [REPLACED]: replaced.map((address) => posix.basename(address)).join(' '),
      },
    });
    metadata['last-updated-ms'] = time;
    metadata['current-snapshot-id'] = sequence;
    metadata['refs'] = { main: { 'snapshot-id': sequence, type: 'branch' } };
  }

  /** Writes under a name that no other attempt uses: files of interrupted attempts are never overwritten. */
  async #write(name: string, bytes: Uint8Array): Promise<string> {
    const path = `${folderOf(this.table)}/${name}-${randomUUID().slice(0, 8)}.avro`;
    await this.place.write(path, bytes);
    return this.place.address(path);
  }

  get #schemaId(): number {
    return this.metadata.schemas.length - 1;
  }

  /**
   * Keeps the snapshot that was current at a time, and all later ones. Files that these do not need, including those of
   * interrupted attempts, are recorded with the time at which that was noticed, so that readers that started with an
   * older version can finish.
   *
   * @returns the files that have not been needed for long
   */
  async #expire(historyFrom: number, now: number): Promise<string[]> {
    const { metadata } = this;
    const first = metadata.snapshots.findLastIndex((one) => one['timestamp-ms'] < historyFrom);
    const kept = metadata.snapshots.slice(Math.max(0, first));
    const needed = new Set([
      'version-hint.text',
      ...kept.map((one) => posix.basename(one['manifest-list'])),
      ...[...this.#months.values()].map(({ line }) => posix.basename(line.manifest_path)),
      // The last snapshot that needed a manifest is the one before the snapshot that replaced it.
      ...kept.slice(1).flatMap((one) => one.summary[REPLACED]?.split(' ') ?? []),
    ]);
    const names = await this.place.names(folderOf(this.table));
    const before = expiredSchema.parse(JSON.parse(metadata.properties[EXPIRED] ?? '{}'));
    const since = names.filter((name) => !needed.has(name)).map((name) => [name, before[name] ?? now] as const);
    metadata.snapshots = kept;
    metadata['snapshot-log'] = kept.map((one) => ({
      'snapshot-id': one['snapshot-id'],
      'timestamp-ms': one['timestamp-ms'],
    }));
    const isDue = (at: number) => now - at >= GRACE_MS;
    metadata.properties[EXPIRED] = JSON.stringify(Object.fromEntries(since.filter(([, at]) => !isDue(at))));
    return since.filter(([, at]) => isDue(at)).map(([name]) => name);
  }
}

async function readable<T>(address: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw new Error(`${address} cannot be read: ${firstLine(error)}; ${REMEDY}`, { cause: error });
  }
}

function changed(
  files: readonly DataFile[],
  added: readonly TableFile[],
  removed: readonly NamedFile[],
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

function monthOf({ date }: NamedFile): string {
  return date?.slice(0, 7) ?? 'all';
}
