import type { Place } from '../bucket/claims.js';
import type { Bucket } from '../bucket/client.js';
import { BucketError } from '../bucket/errors.js';
import { fileOfKey, keyOf } from '../bucket/keys.js';
import { Failure } from '../exit.js';
import { exists } from '../storage/durable.js';
import { MINUTE_MS, SECOND_MS } from '../time.js';
import { tableFile } from '../warehouse/layout.js';
import { readRestored } from '../warehouse/restored.js';
import type { Manifest } from '../warehouse/stage.js';
import type { RunContext, WebsiteRun } from './context.js';

/** For each request, so that a bucket that is down does not hold up a commit for long. */
const TIMEOUT_MS = 10 * SECOND_MS;
const ATTEMPTS = 3;
/** How long to wait for another machine's commit, which it sends as soon as it is made. */
const LONGEST_WAIT_MS = 3 * MINUTE_MS;
const WAIT_MS = 2 * SECOND_MS;
const MOST_TRIES = 5;

/** Another machine was first to commit a website: what is staged here follows from an older state. */
export class OvertakenError extends Failure {
  constructor(readonly by: Place) {
    super(
      `another machine committed ${by.websiteId} first (${by.commitId}); the next sync commits what was fetched here`,
    );
  }
}

type Claimant = Pick<RunContext, 'config' | 'warehouse' | 'log'>;

/**
 * Claims the place of a staged commit in the bucket, before it becomes visible. If the bucket cannot be reached, the
 * commit goes ahead all the same, because no follower may stop a sync.
 *
 * @throws OvertakenError
 */
export async function claimCommit({ config, warehouse, log }: Claimant, manifest: Manifest): Promise<void> {
  if (!config.bucket || manifest.follows === undefined) return;
  const { website_id: websiteId, date, commit_id: commitId, follows: n } = manifest;
  const marker = keyOf(warehouse, tableFile(warehouse, manifest.marker, { websiteId, date, id: commitId }));
  try {
    const winner = await askBucket(config, async (bucket) => {
      const { claimPlace } = await import('../bucket/claims.js');
      return claimPlace(bucket, { websiteId, n, commitId, marker });
    });
    if (winner) throw new OvertakenError(winner);
  } catch (error) {
    if (!(error instanceof BucketError)) throw error;
    log.warn({ website: websiteId }, `committing without checking whether another machine does, too: ${error.message}`);
  }
}

/**
 * Does work that ends with a commit, and repeats it from the journal, without a request, if another machine was first.
 *
 * @param again prepares the work for another try
 */
export async function untilFirst<T>(
  context: Claimant & Pick<RunContext, 'effects' | 'signal'>,
  work: () => Promise<T>,
  again: () => void = () => {},
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof OvertakenError) || tries === MOST_TRIES) throw error;
      context.log.info(
        { website: error.by.websiteId, winner: error.by.commitId },
        'another machine was first: staging again',
      );
      await takeWinner(context, error);
      again();
    }
  }
}

/** Fetches the commit that was first, once it is in the bucket. @throws OvertakenError if it does not arrive in time */
export async function takeWinner(
  { config, warehouse, effects, signal }: Omit<Claimant, 'log'> & Pick<RunContext, 'effects' | 'signal'>,
  overtaken: OvertakenError,
): Promise<void> {
  const until = effects.now() + LONGEST_WAIT_MS;
  const file = fileOfKey(warehouse, overtaken.by.marker);
  await askBucket(config, async (bucket) => {
    while ((await bucket.get(overtaken.by.marker)) === null) {
      if (effects.now() >= until) throw overtaken;
      await effects.sleep(WAIT_MS, signal);
    }
  });
  await fetchOthers({ config, warehouse });
  if (file === null || !(await exists(file))) throw overtaken;
}

/** Fetches what other machines committed, because a run builds on it. While the bucket is down, it runs without. */
export async function takeOthers(context: Claimant): Promise<void> {
  if (!context.config.bucket) return;
  try {
    const taken = await fetchOthers(context);
    if (taken > 0) context.log.info({ files: taken }, 'fetched from the bucket what other machines committed');
  } catch (error) {
    if (!(error instanceof BucketError)) throw error;
    context.log.warn(`cannot fetch what other machines committed: ${error.message}`);
  }
}

/** Sends a commit at once: other machines wait for it, and this one may vanish before its last website is done. */
export async function sendCommit({ config, warehouse, log, effects, oneAtATime, website }: WebsiteRun): Promise<void> {
  if (!config.bucket) return;
  // What cannot be sent now is sent, or reported, at the end of the run.
  await oneAtATime(() => effects.follow({ config, warehouse, log, websiteId: website.id }));
}

async function fetchOthers({ config, warehouse }: Pick<Claimant, 'config' | 'warehouse'>): Promise<number> {
  const { fetchNew } = await import('../bucket/restore.js');
  const historyFrom = (await readRestored(warehouse))?.history_from ?? null;
  return askBucket(config, (bucket) => fetchNew(bucket, warehouse, historyFrom));
}

async function askBucket<T>(config: RunContext['config'], ask: (bucket: Bucket) => Promise<T>): Promise<T> {
  if (!config.bucket) throw new BucketError('no bucket is configured');
  // Loaded here, because most warehouses have no bucket and should not wait for it.
  const { withBucket } = await import('../bucket/client.js');
  return withBucket(config.bucket, ask, { attempts: ATTEMPTS, timeout: TIMEOUT_MS });
}
