import { rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../base/exit.js';
import { crashPoint } from '../../base/storage/crash-point.js';
import { ifThere, readIfThere, syncPath, writeDurably } from '../../base/storage/durable.js';
import { encodeId, WEBSITE_FOLDER, websiteIdSchema } from '../../base/storage/names.js';
import { removeWithin } from '../../base/storage/only-files.js';
import { jsonOf } from '../../base/validate.js';
import { subfolders } from '../journal/folder.js';
import { warehouseFolder } from '../log/folder/layout.js';
import { DATA_TABLES } from '../log/folder/tables.js';

const JOURNALS = ['runs', join('runs', 'damaged')];
const SET_ASIDE = 'set-aside';

const pathsSchema = z.array(z.string().regex(new RegExp(`^(parquet/\\w+|state)/${WEBSITE_FOLDER}$`)));
const decidedSchema = z.object({
  /** What goes; more of it is only shown. */
  removal: z.looseObject({ website_id: websiteIdSchema }),
  /** Whether a bucket has to follow. */
  in_bucket: z.boolean(),
});
type Decided = z.infer<typeof decidedSchema>;

/**
 * Removes a website for good. Once that is written down, whoever takes the run lock next finishes it. The caller holds
 * the run lock, and calls `forgetRemoval` once the followers have caught up.
 */
export async function removeForGood(warehouse: string, decided: Decided): Promise<void> {
  await writeDurably(warehouseFolder(warehouse).removal, `${JSON.stringify(decided)}\n`);
  crashPoint('decided the removal');
  await takeSteps(warehouse, decided);
}

export async function forgetRemoval(warehouse: string): Promise<void> {
  await rm(warehouseFolder(warehouse).removal, { force: true });
}

/** Finishes a removal that is decided, if there is one. The caller holds the run lock. */
export async function finishRemoval(warehouse: string): Promise<void> {
  const decided = await readDecided(warehouse);
  if (!decided) return;
  await takeSteps(warehouse, decided);
  await forgetRemoval(warehouse);
}

/** Each step can be repeated. */
async function takeSteps(warehouse: string, { removal, in_bucket }: Decided): Promise<void> {
  const folders = await foldersOf(warehouse, removal.website_id);
  if (in_bucket) {
    const inBucket = folders.filter((path) => /^(parquet|state)\b/.test(path));
    const paths = new Set([...(await readBucketRemoval(warehouse)), ...inBucket]);
    await writeDurably(warehouseFolder(warehouse).bucketRemoval, JSON.stringify([...paths]));
  }
  const ids = new Set([...(await readDuckdbRemoval(warehouse)), removal.website_id]);
  await writeDurably(warehouseFolder(warehouse).duckdbRemoval, JSON.stringify([...ids]));
  for (const [at, path] of ['index', ...folders].entries()) {
    await removeWhole(warehouse, join(warehouse, path));
    crashPoint(`took step ${at + 1} of the removal`);
  }
}

/** A removal that is not finished; null if there is none. @throws Failure if its file is damaged */
async function readDecided(warehouse: string): Promise<Decided | null> {
  const { removal: file } = warehouseFolder(warehouse);
  const text = await readIfThere(file);
  const { data = null } = decidedSchema.safeParse(jsonOf(text ?? ''));
  if (data || text === null) return data;
  throw new Failure(`${file} is damaged: delete it, and run \`indexhouse verify\``);
}

/** A removal that is not finished, and what to say about it; null if there is none. */
export async function unfinishedRemoval(warehouse: string) {
  const { removal = null } = (await readDecided(warehouse)) ?? {};
  const left = await readBucketRemoval(warehouse);
  if (!removal && left.length > 0) {
    const message = 'the bucket still has what was removed';
    return { removal, message, remedy: 'the next sync removes it there' };
  }
  if (!removal) return null;
  const message = `the removal of website ${removal.website_id} is not finished`;
  return { removal, message, remedy: 'the next sync finishes it, and so does the same `indexhouse remove`' };
}

/** Deletes a file or folder of a warehouse, and the folders above it that are empty then: views fail on patterns without a file. */
export async function removeWhole(warehouse: string, path: string): Promise<void> {
  await removeWithin(warehouse, path);
  for (let parent = dirname(path); ; parent = dirname(parent)) {
    const isGone = await ifThere(rmdir(parent), undefined)
      .then(() => true)
      .catch(() => false);
    if (!isGone) return syncPath(parent);
  }
}

/** Paths of folders that were removed since the bucket last followed a removal. @throws Failure if the list is damaged */
export function readBucketRemoval(warehouse: string): Promise<string[]> {
  const remedy = 'delete it, and then what `remove` took out from the bucket';
  return readList(warehouseFolder(warehouse).bucketRemoval, pathsSchema, remedy);
}

/** Websites that were removed since `indexhouse.duckdb` last followed a removal. @throws Failure if the list is damaged */
export function readDuckdbRemoval(warehouse: string): Promise<string[]> {
  const remedy = 'delete it and indexhouse.duckdb, which the next sync rebuilds';
  return readList(warehouseFolder(warehouse).duckdbRemoval, z.array(websiteIdSchema), remedy);
}

async function readList(file: string, schema: z.ZodType<string[]>, remedy: string): Promise<string[]> {
  const text = await readIfThere(file);
  const { data } = schema.safeParse(text === null ? [] : jsonOf(text));
  if (data) return data;
  throw new Failure(`${file} is damaged: ${remedy}`);
}

/**
 * Every folder that belongs to a website, its markers first: a running service looks again when markers go. Also in what
 * was set aside, with the copy of the log there.
 */
async function foldersOf(warehouse: string, websiteId: string): Promise<string[]> {
  const name = encodeId(websiteId);
  const tables = ['snapshots', 'runs', 'note_log', 'tombstones', 'checkpoints', ...DATA_TABLES];
  const own = [...tables.map((table) => join('parquet', table, `website=${name}`)), join('state', `website=${name}`)];
  const aside = (await subfolders(join(warehouse, SET_ASIDE))).map((moved) => join(SET_ASIDE, moved));
  const journals = ['', ...aside].flatMap((root) => JOURNALS.map((folder) => join(root, folder)));
  const runs = await Promise.all(journals.map((root) => subfolders(join(warehouse, root))));
  return [
    ...own,
    ...journals.flatMap((root, at) => (runs[at] ?? []).map((run) => join(root, run, name))),
    ...aside.flatMap((root) => [...own, 'indexhouse.duckdb'].map((path) => join(root, path))),
  ];
}
