import type { LimitFunction } from 'p-limit';
import { isLoopback } from '../base/config/scalars.js';
import type { Config } from '../base/config/schema.js';
import type { Website } from '../base/config/websites.js';
import { UsageError } from '../base/exit.js';
import type { Logger } from '../base/observe/log.js';
import type { Engine, EngineOptions } from '../base/storage/engine.js';
import { type Disk, diskOf } from '../base/storage/free-disk.js';
import { DAY_MS, type Effects, realEffects } from '../base/time.js';
import type { RequestCounts } from '../source/client.js';
import type { Source } from '../source/source.js';
import { type FollowInput, followAll } from '../warehouse/copies/follow.js';
import type { FollowerState } from '../warehouse/copies/follower.js';
import type { JournalFolder } from '../warehouse/journal/folder.js';
import type { RunHeader } from '../warehouse/journal/header.js';
import type { Planned, ReportCounts, ReportsStatus } from '../warehouse/journal/plan.js';
import type { SearchTable } from '../warehouse/log/folder/tables.js';
import type { latestOf } from '../warehouse/log/markers.js';
import { MAX_REJECT_RATIO } from '../warehouse/log/verdict.js';
import type { Outage } from './outage.js';
import type { RunClock } from './run-clock.js';
import type { RunProgress } from './run-progress.js';
import type { JournalEngine } from './stage/journal-views.js';

/** What a run needs from the machine, passed in so that tests can replace it. */
export interface RunEffects extends Effects {
  /** The space on the disk of a folder. */
  diskOf(folder: string): Promise<Disk>;
  /** Lets the followers catch up. */
  follow(input: FollowInput): Promise<FollowerState[]>;
}

export const realRunEffects: RunEffects = {
  ...realEffects,
  diskOf,
  follow: followAll,
};

/** What is the same for every warehouse, passed in so that the worlds of tests can be small. */
export const RUN_LIMITS = {
  /** Share of rejected entries above which a listing is partial. */
  maxRejectRatio: MAX_REJECT_RATIO,
  /** In milliseconds: as search names a page for 90 days, one that nothing has named for so long is worth no inspection. */
  forgetAfter: 90 * DAY_MS,
  /** Days of the history of search analytics that a night fetches: a few hundred calls, so that inspections have time. */
  searchDays: 100,
  /** In milliseconds: how long pages that look as if they fell wait to be asked for again, round by round, and for each other. */
  confirmation: { pauses: [10_000, 20_000, 40_000], between: 500 },
};
export type RunLimits = typeof RUN_LIMITS;

/**
 * These effects, with `sync.clock: service` on the time of the service, as an answer's `Date` has it. If the service does
 * not answer, the time stays this machine's.
 *
 * @throws UsageError if that service is not on loopback
 */
export async function configuredTime<E extends Effects>(config: Config, effects: E): Promise<E> {
  const { sync, api, google, websites } = config;
  if (sync.clock === 'machine') return effects;
  const isGoogle = Array.isArray(websites) ? websites[0]?.source === 'google' : websites !== 'all';
  const { href, hostname } = new URL(isGoogle ? google.endpoint : api.base_url);
  if (!isLoopback(hostname)) throw new UsageError(`sync.clock: service is for a simulator, and ${hostname} is none`);
  const answer = await fetch(href, { redirect: 'manual' }).catch(() => null);
  const ahead = Date.parse(answer?.headers.get('date') ?? '') - effects.now() || 0;
  return { ...effects, now: () => effects.now() + ahead };
}

/** What the websites of a run share. */
export interface RunContext {
  config: Config;
  /** Folder of the warehouse. */
  warehouse: string;
  limits: RunLimits;
  runId: string;
  logger: Logger;
  progress: RunProgress;
  effects: RunEffects;
  outage: Outage;
  clock: RunClock;
  /** DuckDB for the whole run. */
  engine: Engine;
  /** DuckDB's work, one website after the other: each may use the whole memory limit. */
  oneAtATime: LimitFunction;
  /** Fires when the process is asked to stop. */
  signal: AbortSignal;
}

/** What a website's newest commit left, with which the next one is compared. */
export interface Before {
  /** The state file of the newest commit; null before the first. */
  state: string | null;
  /** Whether any commit has a complete listing. */
  hadComplete: boolean;
  /** The id of the newest commit. */
  newest: string | null;
  latest: ReturnType<typeof latestOf>;
  /** The committed files of search analytics, by table. */
  search: Record<SearchTable, readonly string[]>;
}

/** How the fetching of the planned reports ended. */
export interface FetchedReports {
  status: ReportsStatus;
  /** Why it ended before the plan did. */
  message: string | null;
  /** Answers that an interrupted run had journaled already. */
  reused: number;
  /** Reports that were worth fetching; null if that is unknown. */
  wanted: number | null;
  /** Those that can be used. */
  quotas: Planned['quotas'];
  evidence: Planned['evidence'];
  /** How the requested reports ended. */
  counts: ReportCounts;
  /** Left out: that of the client. */
  utilisation?: null;
}

/** One website's part of a run. */
export interface WebsiteRun extends RunContext {
  website: Website;
  folder: JournalFolder;
  header: RunHeader;
  /** DuckDB over the journal; a large one is closed while reports are fetched. */
  journal: JournalEngine;
  /** The latest snapshot, once it is known. */
  latest?: Before['latest'];
  source: Source;
  requests: RequestCounts;
  /** The only pages to inspect. */
  asked?: readonly string[] | undefined;
}

/** What the plan of a website's reports is made with. */
export interface PlannedRun
  extends Pick<WebsiteRun, 'website' | 'folder' | 'journal' | 'config' | 'requests' | 'asked'> {
  header: Pick<RunHeader, 'snapshot_id' | 'website_id'>;
  source: Pick<Source, 'byInspection' | 'quotas'>;
  effects: Pick<RunEffects, 'now'>;
}

/** When a run stops fetching, in milliseconds since 1970. */
export function deadlineOf({ header, config }: Pick<WebsiteRun, 'header' | 'config'>): number {
  return Date.parse(header.started_at) + config.reports.deadline;
}

/** DuckDB's options for a piece of work, with a folder of its own for spill files. */
export function engineOptions(config: Config, folder: string): EngineOptions {
  return { memoryLimit: config.warehouse.memory_limit, memoryShare: 0.25, temporary: folder };
}

/** A connection to the engine of the run, if there is one, with a folder for other temporary files. */
export function connection({ config, engine }: Pick<RunContext, 'config'> & { engine?: Engine }, folder: string) {
  return { ...engineOptions(config, folder), within: engine };
}
