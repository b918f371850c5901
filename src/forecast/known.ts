import { z } from 'zod';
import { Reader } from '../analysis/reader.js';
import type { Config } from '../config/schema.js';
import { REASONS } from '../journal/plan.js';
import { setMaxReports, setPlanOrder } from '../run/plan-reports.js';
import { sql } from '../storage/sql.js';
import type { DamagedFile } from '../warehouse/damage.js';
import { checkIdentity } from '../warehouse/prepare.js';
import type { StateOptions } from '../warehouse/state.js';
import { pageGroup } from './reports.js';

const websiteRow = z.object({
  website_id: z.string(),
  website_name: z.string().nullable(),
  /** The newest one. */
  snapshot_id: z.string(),
  run_id: z.string(),
  /** When the run went, in milliseconds since 1970; null where it was interrupted, or has no row yet. */
  started_ms: z.number().nullable(),
  finished_ms: z.number().nullable(),
  requests: z.int().nullable(),
  /** What the walk of the newest complete listing took, and what it listed. */
  walk: z.object({ requests: z.int(), pages: z.int() }).nullable(),
  /** What a listing brings: medians over so many earlier complete ones, in pages. */
  expected: z
    .object({ missing: z.int(), changed: z.int(), new: z.int(), recrawled: z.int(), snapshots: z.int() })
    .nullable(),
});
/** What its snapshots tell of a website's next run. */
export type KnownWebsite = z.infer<typeof websiteRow>;

const groupRow = pageGroup.extend({ is_never_fetched: z.boolean() });

const wantedRow = z.object({
  /** In its website's plan, from 1. */
  place: z.coerce.number(),
  url: z.string(),
  reason: z.enum(REASONS),
  /** Whole days; null without a report. */
  report_age_days: z.int().nullable(),
});
/** A page whose report is wanted. */
export type WantedPage = z.infer<typeof wantedRow>;

/** What a warehouse knows before a run. Reads it, and writes nothing into it but a state that is missing. */
export class Known {
  private constructor(
    private readonly reader: Reader | null,
    /** Websites with a snapshot, by id. */
    readonly websites: ReadonlyMap<string, KnownWebsite>,
  ) {}

  /**
   * @param now milliseconds since 1970
   * @throws WarehouseError where the warehouse is not of this configuration
   */
  static async open(
    { warehouse, reports }: Config,
    now: number,
    onRebuilt?: StateOptions['onRebuilt'],
  ): Promise<Known> {
    if (!(await checkIdentity(warehouse.path, warehouse.time_zone))) return new Known(null, new Map());
    const reader = await Reader.open({ warehouse: warehouse.path, memoryLimit: warehouse.memory_limit, onRebuilt });
    try {
      const { engine } = reader;
      await engine.setTimes({ planned_at: new Date(now) });
      await setPlanOrder(engine, reports, now);
      const rows = await engine.rows(websiteRow, sql('forecast/websites'));
      await reader.withStates(() => engine.run(sql('plan/known_candidates')));
      await engine.view('report_plan', sql('plan/report_plan'));
      return new Known(reader, new Map(rows.map((row) => [row.website_id, row])));
    } catch (error) {
      reader.close();
      throw error;
    }
  }

  close(): void {
    this.reader?.close();
  }

  /** Files that cannot be read: what is told is without them. */
  get damaged(): readonly DamagedFile[] {
    return this.reader?.damaged ?? [];
  }

  /** The monitored pages of a website, counted by what the plan makes of them. */
  async groups(websiteId: string): Promise<z.infer<typeof groupRow>[]> {
    const engine = await this.#select(websiteId);
    return engine ? engine.rows(groupRow, sql('forecast/page_groups')) : [];
  }

  /** What is wanted of a website, from one place of its plan to another, both included. */
  async wanted(websiteId: string, from: number, to: number): Promise<WantedPage[]> {
    const engine = to < from ? null : await this.#select(websiteId, from, to);
    return engine ? engine.rows(wantedRow, sql('forecast/wanted_pages')) : [];
  }

  /** Everything that is wanted of a website, page by page. */
  async *allWanted(websiteId: string): AsyncGenerator<WantedPage> {
    const engine = await this.#select(websiteId);
    if (engine) yield* engine.stream(wantedRow, sql('forecast/wanted_pages'));
  }

  /** Null where nothing is known of the website. */
  async #select(websiteId: string, from = 1, to = Number.POSITIVE_INFINITY): Promise<Reader['engine'] | null> {
    if (!this.reader || !this.websites.has(websiteId)) return null;
    const { engine } = this.reader;
    await engine.set({ website_id: websiteId, from_place: from });
    await setMaxReports(engine, to);
    return engine;
  }
}
