import type { Disk } from '../../base/storage/free-disk.js';
import type { LockHolder } from '../../base/storage/locks.js';
import type { Follower, FollowerLag } from '../../warehouse/copies/follower.js';
import type { RunFileContent, Waiting } from '../../warehouse/journal/run-file.js';
import type { Due } from './overdue.js';
import type { UnfinishedRun } from './unfinished-runs.js';
import type { WaitingNotices } from './waiting-notices.js';
import type { NewDrift, PageState, SourcesRead, WebsiteStatus, WebsitesInput } from './website-status.js';

/** What was found about a warehouse, before it is judged. */
export interface Found {
  warehouse: string;
  checked_at: string;
  websites: WebsiteStatus[];
  /** The process that holds the run lock: a sync or another writing command is running. */
  running: LockHolder | null;
  /** When the run in progress started or was resumed; null if there is none. */
  run_since: string | null;
  /** What the run in progress waits for; null if it does not wait. */
  waiting: Waiting | null;
  /** Why the newest run got no snapshot of a website, where `runs` has no row of it; by website, `*` for none. */
  failed: RunFileContent['failed'];
  /** What the last run found doubtful about this machine's clock; null if nothing. */
  clock: string | null;
  /** A removal that is not finished, and what to do about it; null if there is none. */
  removal: string | null;
  unfinished: UnfinishedRun[];
  /** Folders of damaged journals that were set aside; they may be deleted. */
  set_aside: string[];
  followers: FollowerLag[];
  page_states: PageState[];
  /** What is new in the drift diary since the snapshot before the newest one of each website. */
  new_drift: NewDrift[];
  /** How what names the pages of each property was read for its newest snapshot. */
  sources: SourcesRead[];
  /** The websites of whose newest snapshot some records are in quarantine, and how many. */
  quarantine: { website_id: string; records: number }[];
  notices: WaitingNotices[];
  /** Since when every file is known to be as it was committed, ISO 8601; null: some were not proven yet. */
  proven_since: string | null;
  damaged: { path: string; table: string; website_id: string; reason: string }[];
  /** That a run began, and why what became of it is unknown; null if it is known. */
  unrecorded: string | null;
  /** That a night should have begun, and did not; null if none is missed. */
  overdue: string | null;
  /** That the disk has too little space for the next run; null if it has not. */
  disk: string | null;
  /** Each sign-in to Search Console that ends soon or has ended, and what to do. */
  sign_ins: string[];
  /** Each scheduled job that did not end well the last time, other than the night. */
  jobs: string[];
}

export interface StatusInput extends WebsitesInput {
  /** Milliseconds: a newest snapshot that is older is stale. */
  maxAge: number;
  /** When the next night is due, by a schedule or the rhythm of the last ones. */
  due?: Due | undefined;
  /** Looks at the disk on which the next run writes; not looked at if left out. */
  diskOf?: ((folder: string) => Promise<Disk>) | undefined;
  /** The sign-ins that end soon, at a time in milliseconds since 1970; not looked at if left out. */
  signIns?: ((now: number) => string[]) | undefined;
  /** What follows the log; only the DuckDB files if left out. */
  followers?: readonly Follower[];
}
