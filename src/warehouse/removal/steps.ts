import { rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../base/exit.js';
import { crashPoint } from '../../base/storage/crash-point.js';
import {
  exists,
  ifThere,
  makeFolder,
  publish,
  readIfThere,
  sha256Of,
  syncFile,
  syncFolder,
  writeDurably,
} from '../../base/storage/durable.js';
import { encodeId } from '../../base/storage/names.js';
import { jsonOf } from '../../base/validate.js';
import { namesIn, scratchFolder, warehouseFolder } from '../log/folder/layout.js';
import { DATA_TABLES } from '../log/folder/tables.js';

const JOURNALS = ['runs', join('runs', 'damaged')];

const planSchema = z.object({
  /** What it is about; more of it is only shown. */
  removal: z.looseObject({ website_id: z.string(), snapshot_id: z.string().nullable() }),
  /** Files and folders of the warehouse: deleted, or replaced by a prepared file. Each step can be repeated. */
  steps: z.array(z.object({ path: z.string(), from: z.string().optional(), sha256: z.string().optional() })),
});
export type RemovalPlan = z.infer<typeof planSchema>;
export type Step = RemovalPlan['steps'][number];

/**
 * Removes something for good. The folder with the plan and the prepared files is renamed into place as a whole: before
 * that nothing has begun, and after that whoever takes the run lock next finishes it. The caller holds the run lock,
 * and calls `finishRemoval` once the followers have caught up.
 *
 * @param prepare writes the files that replace others into a folder
 */
export async function removeForGood(warehouse: string, prepare: (folder: string) => Promise<RemovalPlan>) {
  const prepared = join(scratchFolder(warehouse), 'removal');
  await makeFolder(prepared);
  const plan = await prepare(prepared);
  for (const step of plan.steps) if (step.from !== undefined) step.sha256 = await sha256Of(join(prepared, step.from));
  for (const name of await namesIn(prepared)) await syncFile(join(prepared, name));
  await writeDurably(join(prepared, 'plan.json'), `${JSON.stringify(plan)}\n`);
  crashPoint('prepared the removal');
  await publish(prepared, warehouseFolder(warehouse).removal);
  crashPoint('decided the removal');
  await takeSteps(warehouse);
}

/** Finishes a removal that is decided, if there is one. The caller holds the run lock. */
export async function finishRemoval(warehouse: string): Promise<void> {
  await takeSteps(warehouse);
  await rm(warehouseFolder(warehouse).removal, { recursive: true, force: true });
}

async function takeSteps(warehouse: string): Promise<void> {
  const { removal: folder } = warehouseFolder(warehouse);
  const { steps = [] } = (await readPlan(warehouse)) ?? {};
  await checkPrepared(warehouse, steps);
  for (const [at, { path, from }] of steps.entries()) {
    const target = join(warehouse, path);
    if (from === undefined) await removeWhole(target);
    else if (await exists(join(folder, from))) {
      await makeFolder(dirname(target));
      await publish(join(folder, from), target);
    }
    crashPoint(`took step ${at + 1} of the removal`);
  }
}

/** @throws Failure if a prepared file is gone and has not replaced its target */
async function checkPrepared(warehouse: string, steps: readonly Step[]): Promise<void> {
  const { removal: folder, bucketRemoval } = warehouseFolder(warehouse);
  for (const { path, from, sha256 } of steps) {
    const target = join(warehouse, path);
    // The bucket's list is deleted once the bucket has followed.
    if (from === undefined || sha256 === undefined || target === bucketRemoval) continue;
    if (await exists(join(folder, from))) continue;
    if ((await ifThere(sha256Of(target), null)) === sha256) continue;
    throw new Failure(
      `the removal cannot be finished: ${join(folder, from)}, which replaces ${target}, is missing. ` +
        `Delete ${folder}, and restore what \`indexhouse verify\` then names from a backup`,
    );
  }
}

/** The plan of a removal that is not finished; null if there is none. @throws Failure if it is damaged */
async function readPlan(warehouse: string): Promise<RemovalPlan | null> {
  const { removal: folder } = warehouseFolder(warehouse);
  const text = await readIfThere(join(folder, 'plan.json'));
  const { data = null } = planSchema.safeParse(jsonOf(text ?? ''));
  if (data || text === null) return data;
  throw new Failure(`${folder}/plan.json is damaged: delete ${folder}, and run \`indexhouse verify\``);
}

/** A removal that is not finished, and what to say about it; null if there is none. */
export async function unfinishedRemoval(warehouse: string) {
  const plan = await readPlan(warehouse);
  const left = await readBucketRemoval(warehouse);
  if (!plan && left.length > 0) {
    const message = 'the bucket still has what was removed';
    return { removal: null, message, remedy: 'the next sync removes it there' };
  }
  if (!plan) return null;
  const { website_id, snapshot_id } = plan.removal;
  const message = `the removal of ${snapshot_id ? `snapshot ${snapshot_id}` : `website ${website_id}`} is not finished`;
  return {
    removal: plan.removal,
    message,
    remedy: 'the next sync finishes it, and so does the same `indexhouse remove`',
  };
}

/** Deletes a file or folder, and the folders above it that are empty then: views fail on patterns without a file. */
export async function removeWhole(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
  for (let parent = dirname(path); ; parent = dirname(parent)) {
    const isGone = await ifThere(rmdir(parent), undefined)
      .then(() => true)
      .catch(() => false);
    if (!isGone) return syncFolder(parent);
  }
}

/**
 * Paths of files and folders that were removed or replaced since the bucket last followed a removal.
 *
 * @throws Failure if the list is damaged
 */
export async function readBucketRemoval(warehouse: string): Promise<string[]> {
  const { bucketRemoval: file } = warehouseFolder(warehouse);
  const text = await readIfThere(file);
  if (text === null) return [];
  const { data } = z.array(z.string()).safeParse(jsonOf(text));
  if (data) return data;
  throw new Failure(`${file} is damaged: delete it, and then what \`remove\` took out from the bucket`);
}

/** Prepares the step that lists a removal for the bucket, after what it has not followed yet. */
export async function stageBucketRemoval(warehouse: string, folder: string, steps: readonly Step[]): Promise<Step> {
  const paths = steps.map(({ path }) => path).filter((path) => /^(parquet|state)\b/.test(path));
  const name = basename(warehouseFolder(warehouse).bucketRemoval);
  await writeDurably(join(folder, name), JSON.stringify([...(await readBucketRemoval(warehouse)), ...paths]));
  return { path: name, from: name };
}

/** Every folder that belongs to a website, its markers first. */
export async function foldersOf(warehouse: string, websiteId: string): Promise<string[]> {
  const name = encodeId(websiteId);
  const tables = ['snapshots', 'runs', 'note_log', 'tombstones', 'checkpoints', ...DATA_TABLES];
  const runs = await Promise.all(JOURNALS.map((root) => namesIn(join(warehouse, root))));
  return [
    ...tables.map((table) => join('parquet', table, `website=${name}`)),
    join('state', `website=${name}`),
    ...JOURNALS.flatMap((root, at) => (runs[at] ?? []).map((run) => join(root, run, name))),
  ];
}
