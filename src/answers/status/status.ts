import { basename } from 'node:path';
import { causesIn, causeText, count, counted, grouped, type Said } from '../../base/observe/format.js';
import { DAY_MS } from '../../base/time.js';
import { exitCodeOf } from '../../warehouse/log/verdict.js';
import { FINDINGS, type Finding, findingsOf } from './findings.js';
import { type Found, readFound, type StatusInput } from './found.js';

/** Of findings of one kind that differ, so many are spelled out. */
const MOST_LINES = 5;

/** Whether everything is as it should be since the last night, and that as a sentence. */
export interface LastNight {
  /** Null before the first run, and during a run unless something needs attention. */
  is_good: boolean | null;
  sentence: string;
}

/** In place of a verdict that cannot be read. */
export const UNREADABLE: LastNight = {
  is_good: null,
  sentence: 'How the last night went cannot be read: `indexhouse status` says why.',
};

/** The verdict on the last night. During a run there is none, only how far it is and what needs attention. */
function lastNightOf(found: Found, findings: readonly Finding[]): LastNight {
  const isRunning = found.run_since !== null;
  const { runs, websites } = nightOf(found);
  if (!isRunning && runs.length === 0 && findings.every(({ kind }) => kind === 'missing')) {
    return { is_good: null, sentence: 'No snapshots yet. `indexhouse sync` creates the first one.' };
  }
  const ofAll = (part: number) => `${part === 0 ? 'none' : count(part)} of ${counted(websites, 'website')}`;
  const run = websites === 0 ? 'A run is in progress.' : `A run is in progress, done so far: ${ofAll(runs.length)}.`;
  if (findings.length === 0) {
    if (isRunning) return { is_good: null, sentence: run };
    return {
      is_good: true,
      sentence: `Last night was good: ${ofAll(runs.length)}, ${timesOf(runs, found.checked_at)}.`,
    };
  }
  const ofWebsites = findings.filter(({ website }) => website !== null);
  const others = findings.filter(({ website }) => website === null);
  const affected = new Set(ofWebsites.map(({ website }) => website)).size;
  const parts = [
    ...(affected > 0 ? [`${ofAll(affected)} (${kindsOf(ofWebsites)})`] : []),
    ...(others.length > 0 ? [kindsOf(others)] : []),
  ];
  const needs = isRunning ? `${run} Needs` : 'Last night needs';
  return { is_good: false, sentence: `${needs} attention: ${parts.join('; ')}.` };
}

/** What the run in progress has done so far, or else the newest run; and how many websites it has. */
function nightOf({ websites, run_since: since, unfinished }: Found) {
  const configured = websites.filter(({ is_configured }) => is_configured);
  const runs = configured.flatMap(({ last_run }) => last_run ?? []);
  if (since === null) {
    const newest = latest(runs.map(({ run_id }) => run_id));
    return { runs: runs.filter(({ run_id }) => run_id === newest), websites: configured.length };
  }
  // With `websites: all`, a website of the first run is known by its journal only.
  const known = new Set([...configured, ...unfinished].map(({ website_id }) => website_id));
  const current = unfinished.at(-1)?.run_id;
  const isOfIt = ({ run_id, finished_at }: (typeof runs)[number]) =>
    run_id === current || Date.parse(finished_at) >= Date.parse(since);
  return { runs: runs.filter(isOfIt), websites: known.size };
}

/** When these runs began and ended, as `02:00–02:14 UTC`; with the date if that is more than a day ago. */
function timesOf(runs: readonly { started_at: string; finished_at: string }[], checkedAt: string): string {
  const [begun = ''] = runs.map(({ started_at }) => started_at).sort();
  const ended = latest(runs.map(({ finished_at }) => finished_at));
  const isOld = Date.parse(checkedAt) - Date.parse(ended) > DAY_MS;
  return `${isOld ? `${begun.slice(0, 10)} ` : ''}${begun.slice(11, 16)}–${ended.slice(11, 16)} UTC`;
}

function latest(texts: readonly string[]): string {
  return texts.toSorted().at(-1) ?? '';
}

/** Such as `2 failed, 1 partial listing`. */
function kindsOf(findings: readonly Finding[]): string {
  return [...grouped(findings, ({ kind }) => kind)].map(([kind, all]) => countOf(kind, all.length)).join(', ');
}

/** What needs attention, a sentence for each cause: websites with the same cause share one. */
export function causesOf(findings: readonly (Said & Pick<Finding, 'kind'>)[]): string[] {
  const kinds = grouped(causesIn(findings), ({ all: [first] }) => first.kind);
  return [...kinds].flatMap(([kind, causes]) => {
    const left = causes.slice(MOST_LINES).reduce((sum, { all }) => sum + all.length, 0);
    const more = left > 0 ? [`and ${countOf(kind, left)} more; \`indexhouse status --verbose\` lists them`] : [];
    return [...causes.slice(0, MOST_LINES).map(causeText), ...more];
  });
}

/** Such as `2 partial listings`. */
function countOf(kind: Finding['kind'], many: number): string {
  return `${count(many)} ${FINDINGS[kind][many === 1 ? 0 : 1]}`;
}

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
