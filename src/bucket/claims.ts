import { z } from 'zod';
import { jsonOf } from '../contract/validate.js';
import { encodeId } from '../storage/names.js';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../time.js';
import type { Bucket } from './client.js';
import { BucketError } from './errors.js';
import { escaped } from './keys.js';

/**
 * A machine that claims a place and has not sent its commit after this long, by the server's clock, is presumed dead.
 */
const STALE_MS = HOUR_MS;

/**
 * A machine that has not renewed its claim of a run for this long is presumed dead, too: it renews the claim each
 * minute.
 */
const SILENT_MS = 2.5 * MINUTE_MS;
const LOOK_AGAIN_MS = 10 * SECOND_MS;
/** Written by a machine that stops normally, so that no other waits for it. */
const RELEASED = 'released';

const claimSchema = z.object({ commit_id: z.string(), marker: z.string() });

/** A commit, and its place among its website's commits. */
export interface Place {
  websiteId: string;
  /** The number of commits before it. */
  n: number;
  commitId: string;
  /** The key of its marker. */
  marker: string;
}

/**
 * Claims the place of a commit, `log/website=<id>/<n>`, which only one commit can have. May be called again by its
 * owner.
 *
 * @returns null if this commit has it; else the commit that does
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
    // Another machine presumed it dead.
    if ((await bucket.get(`${root}.${taken + 1}`)) !== null) continue;
    if (holder.data.commit_id === commitId) return null;
    const isAlive = found.ageMs < STALE_MS || (await bucket.get(holder.data.marker)) !== null;
    if (isAlive) return { websiteId, n, commitId: holder.data.commit_id, marker: holder.data.marker };
  }
}

/**
 * The runs that this machine is working on. Only one of the machines that have a run's journal may do so, or each would
 * request the same reports: `runs/<run>/website=<id>/claim-<n>` has the id of its commit, and how often the claim was
 * renewed.
 */
export class RunClaims {
  readonly #held = new Map<string, { key: string; id: string; signs: number }>();

  constructor(private readonly bucket: Bucket) {}

  /**
   * Claims a run. If another machine has it, waits to see whether it renews its claim.
   *
   * @param run `runs/<run>/website=<id>`
   * @param id of this machine's commit of the run
   * @param sleep null: does not wait
   * @returns how many machines had it before; null if another one is working on it
   */
  async take(run: string, id: string, sleep: ((ms: number) => Promise<void>) | null): Promise<number | null> {
    let seen: string | null = null;
    let tried = 0;
    for (;;) {
      const newest = await this.#newest(run);
      const found = newest === null ? null : await this.bucket.get(newest);
      const text = String(found?.body ?? '');
      if (newest !== null && text.startsWith(`${id} `)) {
        const held = { key: newest, id, signs: 0 };
        if (text.endsWith(RELEASED)) await this.#write(held, '0');
        this.#held.set(run, held);
        return tried;
      }
      if (found === null || text.endsWith(RELEASED) || found.ageMs >= SILENT_MS) {
        tried = newest === null ? 0 : numberOf(newest) + 1;
        await this.bucket.put(`${run}/claim-${String(tried).padStart(4, '0')}`, `${id} 0`);
      } else if (sleep === null || (seen !== null && text !== seen)) {
        return null;
      } else {
        seen = text;
        await sleep(LOOK_AGAIN_MS);
      }
    }
  }

  has(run: string): boolean {
    return this.#held.has(run);
  }

  /** Renews all claims. @returns the runs that another machine has taken over meanwhile */
  async renew(): Promise<string[]> {
    const lost: string[] = [];
    for (const [run, held] of this.#held) {
      if ((await this.#newest(run)) === held.key) await this.#write(held, String(++held.signs));
      else lost.push(run);
    }
    for (const run of lost) this.#held.delete(run);
    return lost;
  }

  /** Gives up a run, so that another machine may take it over at once. */
  async release(run: string): Promise<void> {
    const held = this.#held.get(run);
    if (held) await this.#write(held, RELEASED);
    this.#held.delete(run);
  }

  async #write({ key, id }: { key: string; id: string }, sign: string): Promise<void> {
    await this.bucket.put(key, `${id} ${sign}`, { ifAbsent: false });
  }

  async #newest(run: string): Promise<string | null> {
    return (await this.bucket.keys(`${run}/claim-`)).sort().at(-1) ?? null;
  }
}

function numberOf(key: string): number {
  return Number(key.slice(key.lastIndexOf('-') + 1));
}
