import { z } from 'zod';
import { jsonOf } from '../contract/validate.js';
import { encodeId } from '../storage/names.js';
import { HOUR_MS } from '../time.js';
import type { Bucket } from './client.js';
import { BucketError } from './errors.js';
import { escaped } from './keys.js';

/** Who claims a place and has not sent its commit after so long, by the server's clock, is taken for dead. */
const STALE_MS = HOUR_MS;

const claimSchema = z.object({ commit_id: z.string(), marker: z.string() });

/** A commit, and where it stands among those of its website. */
export interface Place {
  websiteId: string;
  /** The commits before it. */
  n: number;
  commitId: string;
  /** The key of its marker. */
  marker: string;
}

/**
 * Claims the place of a commit, `log/website=<id>/<n>`, which only one can have. May be called again by who has it.
 *
 * @returns null where it is this commit's; else the commit that has it
 * @throws BucketError
 */
export async function claimPlace(bucket: Bucket, { websiteId, n, commitId, marker }: Place): Promise<Place | null> {
  const root = `${escaped(`log/website=${encodeId(websiteId)}`)}/${String(n).padStart(8, '0')}`;
  const claim = JSON.stringify({ commit_id: commitId, marker });
  for (let taken = 0; ; taken++) {
    const key = taken === 0 ? root : `${root}.${taken}`;
    if (await bucket.put(key, claim)) return null;
    const found = await bucket.get(key);
    const holder = claimSchema.safeParse(jsonOf(String(found?.body)));
    if (!found || !holder.success) throw new BucketError(`${bucket.url}/${key} is damaged: delete it`);
    // Somebody took it for dead.
    if ((await bucket.get(`${root}.${taken + 1}`)) !== null) continue;
    if (holder.data.commit_id === commitId) return null;
    const isAlive = found.ageMs < STALE_MS || (await bucket.get(holder.data.marker)) !== null;
    if (isAlive) return { websiteId, n, commitId: holder.data.commit_id, marker: holder.data.marker };
  }
}
