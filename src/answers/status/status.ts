import { basename } from 'node:path';
import { exitCodeOf } from '../../warehouse/log/verdict.js';
import { type Finding, findingsOf } from './findings.js';
import { type Found, readFound, type StatusInput } from './found.js';
import { causesOf, type LastNight, lastNightOf, UNREADABLE } from './last-night.js';

/** What `status --json` prints. */
export interface Status extends Found {
  /** The verdict on the last night. */
  last_night: LastNight;
  /** What needs attention, worst first, each by itself. */
  findings: Finding[];
  /** The same, a sentence for each cause. */
  warnings: string[];
  /** 1 if a website got no snapshot in its last run, 3 if anything else needs attention, else 0. */
  exit_code: 0 | 1 | 3;
}

/**
 * Finds out how a warehouse is doing, from its Parquet files and journals. No process that holds a database blocks it,
 * and it writes nothing into the warehouse except a missing state. Do not call it in a process that syncs.
 */
export async function readStatus(input: StatusInput): Promise<Status> {
  return judged(await readFound(input), input);
}

/** The verdict on the last night of these websites, or of all; also if it cannot be read. */
export async function readLastNight(input: StatusInput, websites: readonly string[] | null): Promise<LastNight> {
  const status = await readStatus(input).catch(() => null);
  const asked = status && websites ? statusForKey(status, websites, input) : status;
  return asked?.last_night ?? UNREADABLE;
}

/** Says what needs attention of what was found. */
export function judged(found: Found, input: Pick<StatusInput, 'maxAge'>): Status {
  const findings = findingsOf(found, input);
  const last_night = lastNightOf(found, findings);
  return { ...found, last_night, findings, warnings: causesOf(findings), exit_code: exitCodeOf(findings) };
}

/** What a key learns nothing of: this machine, its folders, and what its operator runs. */
const UNSEEN = {
  proven_since: null,
  unrecorded: null,
  overdue: null,
  disk: null,
  sign_ins: [],
  jobs: [],
  warehouse: '',
  waiting: null,
  removal: null,
  clock: null,
  unfinished: [],
  set_aside: [],
  followers: [],
  notices: [],
} satisfies Partial<Found>;

/** The part of a status about these websites. A field that `Found` gains is decided here before this compiles. */
export function statusForKey(status: Status, websites: readonly string[], input: Pick<StatusInput, 'maxAge'>): Status {
  const own = <R extends { website_id: string }>(rows: readonly R[]) =>
    rows.filter(({ website_id }) => websites.includes(website_id));
  const isRunning = own(status.unfinished).some(({ in_progress }) => in_progress);
  const found: Found = {
    ...UNSEEN,
    checked_at: status.checked_at,
    websites: own(status.websites),
    running: isRunning ? status.running : null,
    run_since: isRunning ? status.run_since : null,
    failed: Object.fromEntries(Object.entries(status.failed).filter(([id]) => websites.includes(id))),
    page_states: own(status.page_states),
    new_drift: own(status.new_drift),
    sources: own(status.sources),
    quarantine: own(status.quarantine),
    damaged: own(status.damaged).map((file) => ({ ...file, path: basename(file.path) })),
  };
  return judged(found, input);
}
