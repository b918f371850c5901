import { stat } from 'node:fs/promises';
import { z } from 'zod';
import type { Engine } from '../storage/engine.js';
import { sql } from '../storage/sql.js';
import { tableFile } from '../warehouse/layout.js';
import { filesOf, type Marker } from '../warehouse/markers.js';
import type { OpenWarehouse } from '../warehouse/open.js';
import { THINNED_TABLES, type ThinnedTable } from '../warehouse/tables.js';
import { type Fate, type ThinningRule, thin } from './thinning.js';

/** A Parquet file that the rule was asked about. */
export interface PlannedFile {
  marker: Marker;
  table: ThinnedTable;
  file: string;
  rows: number;
  bytes: number;
  fate: Fate;
}

export interface PlanInput {
  log: OpenWarehouse;
  engine: Engine;
  /** All of one website, oldest first. */
  markers: readonly Marker[];
  rule: ThinningRule;
  /** The state after the newest of them. */
  state: string;
}

/** What becomes of each file of one website, by table and oldest first. Nothing is written. */
export async function planFiles(input: PlanInput): Promise<PlannedFile[]> {
  const planned: PlannedFile[] = [];
  for (const table of THINNED_TABLES) {
    const fates = thin(input.markers, table, input.rule);
    const candidates = [...fates].flatMap(([marker, fate]) => (fate === 'goes' ? [marker] : []));
    const needed = await neededCommits(input, table, candidates);
    for (const [marker, fate] of fates) {
      const isNeeded = fate === 'goes' && needed.has(marker.commitId);
      planned.push(await plannedFile(input.log.path, marker, table, isNeeded ? NEEDED[table].fate : fate));
    }
  }
  return planned;
}

/** What of a table has to stay, however old it is: the statement that finds it, and what that is called. */
const NEEDED = {
  coverage: { statement: 'maintain/last_listings', fate: 'last_listings' },
  url_reports: { statement: 'maintain/newest_reports', fate: 'newest_reports' },
} as const satisfies Record<ThinnedTable, { statement: string; fate: Fate }>;

async function neededCommits(
  { log, engine, state }: PlanInput,
  table: ThinnedTable,
  candidates: Marker[],
): Promise<Set<string>> {
  if (candidates.length === 0) return new Set();
  await engine.view(`candidates_${table}`, log.query(table, filesOf(log.path, candidates, table)));
  await engine.view('page_state', log.query('page_state', [state]));
  const rows = await engine.rows(z.object({ commit_id: z.string() }), sql(NEEDED[table].statement));
  return new Set(rows.map(({ commit_id }) => commit_id));
}

async function plannedFile(warehouse: string, marker: Marker, table: ThinnedTable, fate: Fate): Promise<PlannedFile> {
  const file = tableFile(warehouse, table, { websiteId: marker.websiteId, date: marker.date, id: marker.commitId });
  const rows = marker.files[table]?.rows ?? 0;
  return { marker, table, file, rows, bytes: (await stat(file)).size, fate };
}
