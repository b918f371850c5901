import type { Engine } from '../storage/engine.js';
import { sql } from '../storage/sql.js';
import { tableQuery } from './prepare.js';

/** What a commit is: its ids, and what the comparison with earlier commits needs to know. */
export interface CommitFacts {
  commitId: string;
  snapshotId: string;
  websiteId: string;
  snapshotAt: Date;
  /** The calendar date of `snapshotAt` in the warehouse's time zone. */
  date: string;
  listingComplete: boolean;
  /** Whether an earlier commit of this website has a complete listing: without one, no page can have appeared. */
  hadComplete: boolean;
}

/** Hands the facts of a commit to the statements of `sql/stage` and `sql/plan`. */
export async function setCommitFacts(engine: Engine, facts: CommitFacts): Promise<void> {
  await engine.set({
    commit_id: facts.commitId,
    snapshot_id: facts.snapshotId,
    website_id: facts.websiteId,
    snapshot_date: facts.date,
    listing_complete: facts.listingComplete,
    had_complete: facts.hadComplete,
  });
  await engine.setTimes({ snapshot_at: facts.snapshotAt });
}

/** Makes the view `previous_state` of the state that this commit follows. */
export async function viewPreviousState(engine: Engine, warehouse: string, file: string | null): Promise<void> {
  await engine.view('previous_state', tableQuery(warehouse, 'page_state', file === null ? [] : [file]));
}

/**
 * Makes the views that compare this commit with the state before it. They stand over `now_coverage`,
 * `now_url_reports`, `now_report_failures`, `now_rejected_records` and `previous_state`, and do not care whether those
 * come from a journal or from the warehouse: a state that is rebuilt is made by the same statements.
 */
export async function viewComparison(engine: Engine): Promise<void> {
  await engine.run(sql('stage/compared'));
  await engine.run(sql('stage/report_attempts'));
  await engine.run(sql('stage/absences'));
}
