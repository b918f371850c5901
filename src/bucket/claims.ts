import { z } from 'zod';
import { jsonOf } from '../contract/validate.js';
import { encodeId } from '../storage/names.js';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../time.js';
import type { Bucket } from './client.js';
import { BucketError } from './errors.js';
import { escaped } from './keys.js';

/** Who claims a place and has not sent its commit after so long, by the server's clock, is taken for dead. */
const STALE_MS = HOUR_MS;

/** Who is at work on a run and has given no sign of life for so long is taken for dead, too: it gives one each minute. */
const SILENT_MS = 2.5 * MINUTE_MS;
const LOOK_AGAIN_MS = 10 * SECOND_MS;
/** Written by who stops in peace, so that nobody waits for its signs of life. */
const RELEASED = 'released';

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

/**
 * Which runs this machine is at work on. Of all that have a run's journal only one may be, or each would ask for the same
 * reports:
 * `runs/<run>/website=<id>/claim-<n>` has the id of its commit, and how often it has given a sign of life.
 */
export class RunClaims {
  readonly #held = new Map<string, { key: string; id: string; signs: number }>();

  constructor(private readonly bucket: Bucket) {}

  /**
   * Claims a run. Where another machine has it, a sign of life is waited for.
   *
   * @param run `runs/<run>/website=<id>`
   * @param id of this machine's commit of the run
   * @param sleep null: nothing is waited for
   * @returns how many had it before this machine; null where another one is at work on it
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

  /** Gives a sign of life. @returns the runs that another machine has taken over meanwhile */
  async renew(): Promise<string[]> {
    const lost: string[] = [];
    for (const [run, held] of this.#held) {
      if ((await this.#newest(run)) === held.key) await this.#write(held, String(++held.signs));
      else lost.push(run);
    }
    for (const run of lost) this.#held.delete(run);
    return lost;
  }

  /** Another machine may take it over at once. */
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
