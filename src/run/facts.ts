import type { Listed } from '../journal/listing.js';
import type { CommitFacts } from '../warehouse/comparison.js';
import { DamageError } from '../warehouse/damage.js';
import { calendarDate } from '../warehouse/dates.js';
import { markersOf } from '../warehouse/markers.js';
import { OpenWarehouse } from '../warehouse/open.js';
import { currentState, hasComplete } from '../warehouse/state.js';
import { journalEngine, type WebsiteRun } from './context.js';

/** What a website's newest commit left: the ground that the next one stands on. */
export interface Before {
  /** The state file of the newest commit; null before the first. */
  state: string | null;
  /** Whether any commit has a complete listing. */
  hadComplete: boolean;
}

/**
 * Reads what is committed of a website, from markers alone. A state file that is missing is made anew.
 *
 * @throws DamageError where one of its markers cannot be read: the next commit would tell every change since again
 */
export async function readBefore(run: WebsiteRun): Promise<Before> {
  const { warehouse, website } = run;
  const log = await run.journal.use(null, (engine) => OpenWarehouse.read(engine, warehouse));
  const damaged = log.damaged.filter((file) => file.websiteId === website.id);
  if (damaged.length > 0) throw new DamageError(damaged);
  const markers = markersOf(log.markers, website.id);
  return { state: await currentState(warehouse, markers, journalEngine(run)), hadComplete: hasComplete(markers) };
}

export function commitFacts(run: Pick<WebsiteRun, 'header' | 'config'>, listed: Listed, before: Before): CommitFacts {
  const snapshotAt = new Date(listed.startedAt);
  return {
    commitId: run.header.snapshot_id,
    snapshotId: run.header.snapshot_id,
    websiteId: run.header.website_id,
    snapshotAt,
    date: calendarDate(snapshotAt, run.config.warehouse.time_zone),
    listingComplete: listed.complete,
    hadComplete: before.hadComplete,
    isReplay: false,
  };
}
