import { rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { exists, makeFolder, publishFile, readIfThere, sha256Of, writeDurably } from '../../base/storage/durable.js';
import { withEngine } from '../../base/storage/engine.js';
import { copyFresh } from '../../base/storage/only-files.js';
import { withTemporary } from '../../base/storage/temporary.js';
import { addDays } from '../../base/time.js';
import { checkpointFile } from '../log/checkpoints.js';
import { GRACE_MS } from '../log/commit.js';
import { findDamaged } from '../log/folder/damage.js';
import { listTableFiles, namesIn, warehouseFolder } from '../log/folder/layout.js';
import { parseIdentity, writeSchemas } from '../log/folder/prepare.js';
import { readRestored, writeRestored } from '../log/folder/restored.js';
import { DATA_TABLES, isThinned, LOOSE_TABLES } from '../log/folder/tables.js';
import type { Tombstone } from '../log/listed-log.js';
import { openLog } from '../log/log.js';
import { dateOf, dropIndex, INDEXED_TABLES, makeRoom } from '../log/marker-index.js';
import { byCommit, fileOf, type Marker, newestMarkers, stateFileOf } from '../log/markers.js';
import { updateIndex } from '../log/update-index.js';
import type { Bucket } from './client.js';
import { each } from './each.js';
import { DamagedObjectError } from './errors.js';
import { fileOfKey, idOfKey, keyOf } from './keys.js';
import { compareRows, fetchRows, incomingIn, place, type Row } from './log-rows.js';

export interface FetchOptions {
  /** Listings and reports that are older than the newest snapshot by more days are left in the bucket; null: none are. */
  historyDays: number | null;
  /** Bytes, of DuckDB. */
  memoryLimit: number;
  /** Whether the folder only copies the bucket: files that this no longer has go, data files an hour later. */
  isCopy?: boolean;
  /** Called after each file, with what is fetched so far. */
  onProgress?: ((progress: RestoreProgress) => void) | undefined;
}

export interface RestoreProgress {
  files: number;
  /** Files to fetch. */
  of: number;
}

export interface RestoredFiles {
  /** Files fetched now. */
  files: number;
  bytes: number;
  /** Data files that were left in the bucket. */
  left: number;
  /** The date of the first listings and reports that are there, `YYYY-MM-DD`; null if none were left. */
  history_from: string | null;
  /** Keys of objects that are missing, or do not have the bytes of their commit. */
  damaged: string[];
}

/**
 * Fetches from a bucket what a folder lacks: data and states, each checked against its commit, and then the markers,
 * so that no reader sees half a commit. `warehouse.json` comes last and says that the folder is complete. Objects that
 * are damaged are left out and named: whoever needs them finds the file missing. Can be repeated after an interruption
 * at any point. The caller holds the folder's run lock.
 *
 * @returns null if the bucket holds no warehouse
 * @throws BucketError
 */
export async function restore(bucket: Bucket, folder: string, options: FetchOptions): Promise<RestoredFiles | null> {
  const first = await fetchOnce(bucket, folder, options);
  if (!first || first.damaged.length === 0) return first;
  // `maintain` or `remove` may have changed something since it was listed.
  const again = await fetchOnce(bucket, folder, options);
  return again && { ...again, files: first.files + again.files, bytes: first.bytes + again.bytes };
}

async function fetchOnce(bucket: Bucket, folder: string, options: FetchOptions): Promise<RestoredFiles | null> {
  const identity = await bucket.get('warehouse.json');
  if (identity === null) return null;
  if (!parseIdentity(String(identity.body))) throw new DamagedObjectError(`${bucket.url}/warehouse.json is damaged`);
  await writeSchemas(folder, options.memoryLimit);
  const incoming = incomingIn(folder);
  await rm(incoming, { recursive: true, force: true });
  const { identity: file } = warehouseFolder(folder);
  const isFirst = !(await exists(file));
  const known = await readRestored(folder);
  const have = isFirst ? null : (known?.history_from ?? '');
  const rows = await compareRows(bucket, folder, { incoming, damaged: known?.damaged ?? [] });
  const { historyDays: days } = options;
  const asked = days === null || rows.newestDate === '' ? '' : addDays(rows.newestDate, -days);
  const from = have === null || asked < have ? asked : have;
  const gone = options.isCopy ? rows.gone : [];
  const isEqual = rows.lacking.length === 0 && gone.length === 0 && from === have;
  const isDue = Object.values(known?.unused ?? {}).some((since) => Date.now() - Date.parse(since) >= GRACE_MS);
  const isDone = isEqual && !isDue && !known?.damaged.length;
  const fetched = isDone
    ? { files: 0, bytes: 0, left: 0, history_from: known?.history_from ?? null, damaged: [] }
    : await new Fetching(bucket, folder, options, from).fetch(rows.lacking, gone, isFirst);
  await rm(incoming, { recursive: true, force: true });
  if ((await readIfThere(file)) !== String(identity.body)) await writeDurably(file, identity.body);
  return fetched;
}

interface Wanted {
  file: string;
  sha256: string;
}

/** One run of `restore`. */
class Fetching {
  readonly #fetched: RestoredFiles = { files: 0, bytes: 0, left: 0, history_from: null, damaged: [] };

  constructor(
    private readonly bucket: Bucket,
    private readonly folder: string,
    private readonly options: FetchOptions,
    private readonly from: string,
  ) {}

  async fetch(lacking: readonly Row[], gone: readonly string[], isFirst: boolean): Promise<RestoredFiles> {
    const rows = await fetchRows(this.bucket, lacking);
    const { markers, tombstones } = await this.#log(gone);
    const fetchedNow = new Set(rows.map(({ key }) => idOfKey(key)));
    const present = new Set(await filesIn(this.folder));
    // What a marker names is compared once, when the marker is new; later it is enough that the file is there.
    const isThere = async ({ file, sha256 }: Wanted) =>
      present.has(file) && (!fetchedNow.has(idOfKey(file)) || (await sha256Of(file)) === sha256);

    const states = newestMarkers(markers).map((newest) => ({
      newest,
      file: stateFileOf(this.folder, newest),
      sha256: newest.files['page_state']?.sha256 ?? '',
    }));
    for (const state of states) if (!(await isThere(state))) await this.#fetch(state, true);
    const stateless = new Set<string>();
    for (const { newest, file } of states) if (!(await exists(file))) stateless.add(newest.websiteId);

    const wanted: Wanted[] = [];
    const used = new Set(states.map(({ file }) => file));
    for (const { marker, table, ...one } of dataOf(this.folder, markers, tombstones)) {
      used.add(one.file);
      // A website without its newest state needs all of its data to rebuild it.
      const isLeft = isThinned(table) && marker.date < this.from && !stateless.has(marker.websiteId);
      if (await isThere(one)) continue;
      if (isLeft) this.#fetched.left++;
      else wanted.push(one);
    }
    const checkpoints = await this.#checkpoints(tombstones);
    for (const one of checkpoints) {
      used.add(one.file);
      if (!(await isThere(one))) wanted.push(one);
    }
    let files = 0;
    await each(wanted, async (one) => {
      await this.#fetch(one);
      files++;
      this.options.onProgress?.({ files, of: wanted.length });
    });
    if (this.#fetched.left > 0) {
      this.#fetched.history_from = this.from;
      for (const { newest } of states) await this.#keepAsCheckpoint(newest);
    }
    await this.#note([...present].filter((file) => !used.has(file)));
    await this.#place(rows, gone, isFirst);
    return this.#fetched;
  }

  /** The log as it will be once the fetched rows are in place. */
  async #log(gone: readonly string[]) {
    const { folder, options } = this;
    const incoming = incomingIn(folder);
    const { here, come, damaged } = await withTemporary('restore', (temporary) =>
      withEngine({ memoryLimit: options.memoryLimit, temporary }, async (engine) => {
        const come = await openLog(engine, incoming, { temporary });
        const damaged = [...come.damaged];
        for (const [table] of LOOSE_TABLES)
          damaged.push(...(await findDamaged(engine, table, await listTableFiles(incoming, table))));
        return { here: await openLog(engine, folder, { temporary }), come, damaged };
      }),
    );
    // They are put in place all the same: whoever needs them must not take them for absent.
    for (const { path } of damaged) this.#fetched.damaged.push(keyOf(incoming, path));
    const replaced = new Set([...gone.map(idOfKey), ...come.markers.map(({ snapshotId }) => snapshotId)]);
    const kept = here.markers.filter(({ snapshotId }) => !replaced.has(snapshotId));
    return {
      markers: [...kept, ...come.markers].sort(byCommit),
      tombstones: [...here.tombstones, ...come.tombstones],
    };
  }

  /** The states that the log can no longer produce, as far as the bucket keeps them. */
  async #checkpoints(tombstones: readonly Tombstone[]): Promise<Wanted[]> {
    const sums = new Map(tombstones.map((one) => [one.checkpoint_id, one.checkpoint_sha256]));
    const found: Wanted[] = [];
    for (const key of await this.bucket.keys('parquet/checkpoints/')) {
      const [file, sha256] = [fileOfKey(this.folder, key), sums.get(idOfKey(key))];
      if (file !== null && sha256 !== undefined) found.push({ file, sha256 });
    }
    return found;
  }

  /** @param isDerived whether it can be rebuilt from the data, so that it may be missing */
  async #fetch({ file, sha256 }: Wanted, isDerived = false): Promise<void> {
    const key = keyOf(this.folder, file);
    try {
      const bytes = await this.bucket.download(key, file, sha256);
      if (bytes !== null) {
        this.#fetched.files++;
        this.#fetched.bytes += bytes;
      } else if (!isDerived) this.#fetched.damaged.push(key);
    } catch (error) {
      if (!(error instanceof DamagedObjectError)) throw error;
      this.#fetched.damaged.push(key);
    }
  }

  /**
   * Keeps a state as a checkpoint, like `maintain` does for removed files, because what it is derived from stays in the
   * bucket.
   */
  async #keepAsCheckpoint(newest: Marker): Promise<void> {
    const [from, to] = [stateFileOf(this.folder, newest), checkpointFile(this.folder, newest)];
    if (!(await exists(from)) || (await exists(to))) return;
    await makeFolder(dirname(to));
    await copyFresh(from, `${to}.tmp`);
    await publishFile(`${to}.tmp`, to);
  }

  /** Deletes files that have been unused for an hour, and records what the folder lacks. */
  async #note(found: readonly string[]): Promise<void> {
    const { folder, bucket } = this;
    const known = await readRestored(folder);
    const now = new Date();
    const unused: Record<string, string> = {};
    for (const file of this.options.isCopy ? found : []) {
      const path = relative(folder, file);
      const since = known?.unused[path] ?? now.toISOString();
      if (now.getTime() - Date.parse(since) < GRACE_MS) unused[path] = since;
      else await rm(file, { force: true });
    }
    const { history_from, damaged } = this.#fetched;
    const isEqual = history_from === null && damaged.length === 0 && Object.keys(unused).length === 0;
    if (!isEqual) await writeRestored(folder, { from: bucket.url, history_from, damaged, unused });
    else await rm(warehouseFolder(folder).restored, { force: true });
  }

  /** Nobody reads the folder before it is complete for the first time. */
  async #place(rows: readonly Row[], gone: readonly string[], isFirst: boolean): Promise<void> {
    const { folder, options } = this;
    const indexed = rows.filter(({ key }) => INDEXED_TABLES.some((table) => key.startsWith(`parquet/${table}/`)));
    const [oldest] = indexed.map(({ file }) => dateOf(file)).sort();
    if (isFirst || gone.length > 0 || rows.some(({ isReplaced }) => isReplaced)) await dropIndex(folder);
    else if (oldest) await makeRoom(folder, oldest);
    for (const row of rows) await place(row);
    for (const file of gone) await rm(file, { force: true });
    await withTemporary('index', (temporary) =>
      updateIndex(folder, { memoryLimit: options.memoryLimit, temporary }, Date.now()),
    );
  }
}

/** Every file of data, every state and every checkpoint in a folder. */
async function filesIn(folder: string): Promise<string[]> {
  const tables = [...DATA_TABLES, 'checkpoints'] as const;
  const files = (await Promise.all(tables.map((table) => listTableFiles(folder, table)))).flat();
  for (const website of await namesIn(join(folder, 'state'))) {
    const names = await namesIn(join(folder, 'state', website));
    files.push(
      ...names.filter((name) => name.endsWith('.parquet')).map((name) => join(folder, 'state', website, name)),
    );
  }
  return files;
}

/** The data files of these commits, but for those that a tombstone put out of use. */
function dataOf(folder: string, markers: readonly Marker[], tombstones: readonly Tombstone[]) {
  const dropped = new Set(tombstones.map(({ table_name, snapshot_id }) => `${table_name} ${snapshot_id}`));
  return markers.flatMap((marker) =>
    DATA_TABLES.flatMap((table) => {
      const sha256 = { ...marker.files, ...marker.absent }[table]?.sha256;
      if (sha256 === undefined || dropped.has(`${table} ${marker.snapshotId}`)) return [];
      return [{ marker, table, file: fileOf(folder, marker, table), sha256 }];
    }),
  );
}
