import { z } from 'zod';
import { Reader } from '../analysis/reader.js';
import type { Config } from '../config/schema.js';
import { REASONS } from '../journal/plan.js';
import { setPlanOrder } from '../run/plan-reports.js';
import { sql } from '../storage/sql.js';
import type { DamagedFile } from '../warehouse/damage.js';
import { checkIdentity } from '../warehouse/prepare.js';
import type { StateOptions } from '../warehouse/state.js';

const websiteRow = z.object({
  website_id: z.string(),
  website_name: z.string().nullable(),
  /** The newest one. */
  snapshot_id: z.string(),
  run_id: z.string(),
  /** Its run, with times in milliseconds since 1970; null if it was interrupted or has no row yet. */
  run: z.object({ started_ms: z.number(), finished_ms: z.number(), requests: z.int() }).nullable(),
  /** What the walk of the newest complete listing took, and what it listed. */
  walk: z.object({ requests: z.int(), pages: z.int() }).nullable(),
  /** How many pages a listing usually changes: medians over `snapshots` earlier complete ones. */
  expected: z
    .object({ missing: z.int(), changed: z.int(), new: z.int(), recrawled: z.int(), snapshots: z.int() })
    .nullable(),
});
/** What a website's snapshots say about its next run. */
export type KnownWebsite = z.infer<typeof websiteRow>;

const groupRow = z.object({
  keeps_failing: z.boolean(),
  goes_first: z.boolean(),
  is_never_fetched: z.boolean(),
  reason: z.enum(REASONS),
  /** False: the report is too young to be fetched again without a change. */
  is_wanted: z.boolean(),
  /** Age of the report in whole days; null: none yet. */
  age_days: z.int().nullable(),
  pages: z.int(),
});
/** Pages of a website that the plan treats alike, from the newest state. */
export type PageGroup = z.infer<typeof groupRow>;

export const wantedRow = z.object({
  /** In its website's plan, from 1. */
  place: z.coerce.number(),
  url: z.string(),
  reason: z.enum(REASONS),
  /** Whole days; null without a report. */
  report_age_days: z.int().nullable(),
});
/** A page whose report is wanted. */
export type WantedPage = z.infer<typeof wantedRow>;

/** What a warehouse knows before a run. */
export type Known = Awaited<ReturnType<typeof openKnown>>;

/**
 * Opens a warehouse for reading; only a missing state is written.
 *
 * @param now milliseconds since 1970
 * @throws WarehouseError if the warehouse does not belong to this configuration
 */
export async function openKnown({ warehouse, reports }: Config, now: number, onRebuilt?: StateOptions['onRebuilt']) {
  const { path, time_zone, memory_limit: memoryLimit } = warehouse;
  const reader = (await checkIdentity(path, time_zone))
    ? await Reader.open({ warehouse: path, memoryLimit, onRebuilt })
    : null;
  const websites = await (reader ? websitesIn(reader, reports, now) : []);
  return {
    /** Websites with a snapshot, by id. */
    websites: new Map(websites.map((row) => [row.website_id, row])),
    /** Files that cannot be read, and are ignored. */
    damaged: (): readonly DamagedFile[] => reader?.damaged ?? [],
    /** What is due counts as of this time from here on, in milliseconds since 1970. */
    planAt: (time: number) => reader?.engine.setTimes({ planned_at: new Date(time) }),
    /** The monitored pages of a website, counted in groups that the plan treats alike. */
    async groups(website_id: string): Promise<PageGroup[]> {
      await reader?.engine.set({ website_id });
      return reader?.engine.rows(groupRow, sql('forecast/page_groups')) ?? [];
    },
    /** The wanted pages of a website in the plan's order: the `first` ones, and the one at the place `beyond`. */
    async *wanted(website_id: string, first = Number.MAX_SAFE_INTEGER, beyond = 0): AsyncGenerator<WantedPage> {
      await reader?.engine.set({ website_id, first, beyond });
      if (reader) yield* reader.engine.stream(wantedRow, sql('forecast/wanted_pages'));
    },
    close: () => reader?.close(),
  };
}

async function websitesIn(reader: Reader, reports: Config['reports'], now: number): Promise<KnownWebsite[]> {
  const { engine } = reader;
  try {
    await reader.nameDamaged();
    await setPlanOrder(engine, { ...reports, max_per_run: Number.POSITIVE_INFINITY }, now);
    await reader.withTables(() => engine.run(sql('plan/known_candidates')));
    await engine.view('report_plan', sql('plan/report_plan'));
    return await reader.rows(websiteRow, sql('forecast/websites'));
  } catch (error) {
    reader.close();
    throw error;
  }
}
