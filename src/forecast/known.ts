import { join } from 'node:path';
import { z } from 'zod';
import type { Config } from '../config/schema.js';
import { setMaxReports, setPlanOrder } from '../run/plan-order.js';
import { exists } from '../storage/durable.js';
import { Engine, type EngineOptions } from '../storage/engine.js';
import { isWholeParquet } from '../storage/parquet-file.js';
import { sql } from '../storage/sql.js';
import { makeTemporary, removeTemporary } from '../storage/temporary.js';
import { schemaFile } from '../warehouse/layout.js';
import { filesOf, type Marker, markersOf, readMarkers, stateFileOf } from '../warehouse/markers.js';
import { checkIdentity, tableQuery } from '../warehouse/prepare.js';
import { rebuildState } from '../warehouse/state.js';
import type { AgeGroup } from './aged-pages.js';
import { type LastRun, readLastRuns } from './last-runs.js';
import { REASONS } from './reasons.js';
import type { Arrivals, PageGroup } from './tonight.js';

/** Nights from which the next one is guessed. */
const NIGHTS_LOOKED_AT = 7;

const expectedRow = z.object({
  website_id: z.string(),
  snapshots: z.int(),
  missing: z.int(),
  changed: z.int(),
  new: z.int(),
  recrawled: z.int(),
});
const ageRow = z.object({ days: z.int().nullable(), pages: z.int() });
const groupRow = z.object({
  keeps_failing: z.boolean(),
  goes_first: z.boolean(),
  is_never_fetched: z.boolean(),
  reason: z.enum(REASONS),
  is_wanted: z.boolean(),
  pages: z.int(),
});
const wantedRow = z.object({
  place: z.coerce.number(),
  url: z.string(),
  reason: z.enum(REASONS),
  report_age_days: z.int().nullable(),
});
/** A page whose report is wanted; its place in its website's plan, from 1. */
export type WantedPage = z.infer<typeof wantedRow>;

/** What a listing is expected to bring, and from how many earlier ones that was guessed. */
export interface Expected extends Arrivals {
  snapshots: number;
}

/** One website as its newest state knows it. */
export interface KnownPages {
  monitored: number;
  /** Of these, how many `reports.priority.never` names, and how many keep failing. */
  neverFetched: number;
  keepFailing: number;
  /** Of those whose report may be fetched. */
  groups: PageGroup[];
  ages: AgeGroup[];
  /** Null without a listing to compare with. */
  expected: Expected | null;
}

/** What a warehouse knows before a run. Reads the newest states and markers, and writes nothing into it. */
export class Known {
  private expected: ReadonlyMap<string, Expected> = new Map();

  private constructor(
    private readonly engine: Engine,
    private readonly options: EngineOptions,
    private readonly warehouse: string,
    private readonly markers: readonly Marker[],
    private readonly runs: ReadonlyMap<string, LastRun>,
  ) {}

  /**
   * @param now milliseconds since 1970
   * @throws WarehouseError where the warehouse is not of this configuration
   */
  static async open({ warehouse, reports }: Pick<Config, 'warehouse' | 'reports'>, now: number): Promise<Known> {
    await checkIdentity(warehouse.path, warehouse.time_zone);
    const temporary = makeTemporary('plan');
    const options = { memoryLimit: warehouse.memory_limit, temporary };
    const engine = await Engine.open(options);
    try {
      const isThere = await exists(schemaFile(warehouse.path, 'snapshots'));
      const markers = isThere ? await readMarkers(engine, warehouse.path) : [];
      const runs = await readLastRuns(engine, warehouse.path, markers);
      await engine.setTimes({ planned_at: new Date(now) });
      await setPlanOrder(engine, reports, now);
      return new Known(engine, options, warehouse.path, markers, runs);
    } catch (error) {
      engine.close();
      removeTemporary(temporary);
      throw error;
    }
  }

  async close(): Promise<void> {
    this.engine.close();
    removeTemporary(this.options.temporary);
  }

  /** Websites with a snapshot. */
  get websiteIds(): string[] {
    return [...this.runs.keys()];
  }

  /** The newest run that gave a website a snapshot. */
  lastRun(websiteId: string): LastRun | null {
    return this.runs.get(websiteId) ?? null;
  }

  /** Reads the newest states, once; those without a snapshot are passed over. What follows is of these websites only. */
  async read(websiteIds: readonly string[]): Promise<void> {
    const { engine, warehouse } = this;
    const known = websiteIds.filter((id) => this.runs.has(id));
    if (known.length === 0) return;
    const states: string[] = [];
    for (const id of known) states.push(...(await this.#stateOf(id)));
    await engine.view('page_state', tableQuery(warehouse, 'page_state', states));
    await engine.run(sql('forecast/known_pages'));
    await engine.run(sql('forecast/previous_state'));
    await engine.run(sql('plan/known_candidates'));
    await engine.view('report_plan', sql('plan/report_plan'));
    this.expected = await this.#expectedOf(known);
  }

  /** Counts the pages of a website. */
  async pages(websiteId: string): Promise<KnownPages> {
    await this.engine.set({ website_id: websiteId });
    const groups = await this.engine.rows(groupRow, sql('forecast/page_groups'));
    const ages = await this.engine.rows(ageRow, sql('forecast/report_ages'));
    return { ...counted(groups), ages, expected: this.expected.get(websiteId) ?? null };
  }

  /** What is wanted of a website, from one place of its plan to another, both included. */
  async wantedPages(websiteId: string, from: number, to: number): Promise<WantedPage[]> {
    if (to < from) return [];
    await this.#lookAt(websiteId, from, to);
    return this.engine.rows(wantedRow, sql('forecast/wanted_pages'));
  }

  /** All of them, one after the other. */
  async *allWanted(websiteId: string): AsyncGenerator<WantedPage> {
    await this.#lookAt(websiteId, 1, Number.POSITIVE_INFINITY);
    yield* this.engine.stream(wantedRow, sql('forecast/wanted_pages'));
  }

  async #lookAt(websiteId: string, from: number, to: number): Promise<void> {
    await this.engine.set({ website_id: websiteId, from_place: from });
    await setMaxReports(this.engine, to);
  }

  /** The state of the newest commit; one that is missing or torn is made anew outside the warehouse. */
  async #stateOf(websiteId: string): Promise<string[]> {
    const markers = markersOf(this.markers, websiteId);
    const newest = markers.at(-1);
    if (!newest) return [];
    const file = stateFileOf(this.warehouse, newest);
    if (await isWholeParquet(file)) return [file];
    const rebuilt = join(this.options.temporary, `${newest.commitId}.parquet`);
    await rebuildState(this.warehouse, markers, this.options, rebuilt);
    return [rebuilt];
  }

  /** Only a complete listing that follows another one tells what a night brings. */
  async #expectedOf(websiteIds: readonly string[]): Promise<Map<string, Expected>> {
    const listings = websiteIds.flatMap((id) => {
      const complete = markersOf(this.markers, id).filter(({ listingComplete }) => listingComplete);
      return complete.slice(1).slice(-NIGHTS_LOOKED_AT);
    });
    const files = filesOf(this.warehouse, listings, 'page_changes');
    await this.engine.view('page_changes', tableQuery(this.warehouse, 'page_changes', files));
    const rows = await this.engine.rows(expectedRow, sql('forecast/expected_changes'), {
      snapshots: listings.map(({ commitId }) => commitId),
      websites: listings.map(({ websiteId }) => websiteId),
    });
    return new Map(rows.map(({ website_id, ...expected }) => [website_id, expected]));
  }
}

function counted(rows: z.infer<typeof groupRow>[]): Omit<KnownPages, 'ages' | 'expected'> {
  const pages = (of: typeof rows) => of.reduce((sum, row) => sum + row.pages, 0);
  const fetched = rows.filter((row) => !row.is_never_fetched);
  return {
    monitored: pages(rows),
    neverFetched: pages(rows) - pages(fetched),
    keepFailing: pages(fetched.filter((row) => row.keeps_failing)),
    groups: fetched.map((row) => ({
      keepsFailing: row.keeps_failing,
      goesFirst: row.goes_first,
      reason: row.reason,
      wanted: row.is_wanted,
      pages: row.pages,
    })),
  };
}
