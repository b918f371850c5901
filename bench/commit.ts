import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withEngine } from '../src/base/storage/engine.js';
import { PARQUET_FORMAT } from '../src/base/storage/parquet-file.js';
import { JournalEngine, viewJournal } from '../src/sync/stage/journal-views.js';
import { type StageInput, stageCommit } from '../src/sync/stage/stage.js';
import { followDuckdb } from '../src/warehouse/copies/duckdb.js';
import type { JournalFolder } from '../src/warehouse/journal/folder.js';
import { commitStaged } from '../src/warehouse/log/commit.js';
import { scratchFolder } from '../src/warehouse/log/folder/layout.js';
import { judge, median, print, RUNS, whole } from './figures.js';
import { generateHistory } from './generate-history.js';
import {
  engineOptions,
  type GeneratedNights,
  makeNight,
  makePages,
  SYNC_MEMORY_LIMIT,
  stageInput,
  writeJournal,
} from './generated-nights.js';
import { type Cost, costCopies, costing, type Parts } from './parts.js';

/**
 * What the commit of a night costs, from its journal on disk to the marker and the follower that has taken it, against
 * what DuckDB needs to read the same journal and write the listing and the reports as sorted Parquet, and no more.
 *
 * Run with: npm run bench:commit
 */
const PAGES = 100_000;
/** With those of pages that changed about 20,000 reports a night. */
const REPORT_EVERY = 6;
const AIM = 7;
const COMMIT = ['stage', 'renames', 'follower'];
const BARE_TABLES = { coverage: 'journal_listing', url_reports: 'journal_reports' } as const;

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'indexhouse-bench-'));
  const parts: Parts[] = [];
  try {
    const nights = { warehouse: join(folder, 'warehouse'), pages: PAGES, nights: RUNS + 2, reportEvery: REPORT_EVERY };
    await generateHistory({ ...nights, nights: 1 });
    await follow(nights.warehouse);
    print(`the commit of a night: ${whole(PAGES)} entries and about 20,000 reports`);
    // The first one is for the caches.
    for (let night = 1; night <= RUNS + 1; night++) parts.push(await benchNight(nights, night, join(folder, 'bare')));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  tell(parts.slice(1));
  print('again: npm run bench:commit');
}

async function benchNight(nights: GeneratedNights, night: number, bareFolder: string): Promise<Parts> {
  const input = stageInput(nights, night);
  await withEngine(engineOptions(scratchFolder(nights.warehouse)), async (engine) => {
    await makePages(engine, nights);
    await makeNight(engine, night);
    await writeJournal(engine, input.folder);
  });
  const parts: Parts = new Map();
  const bare = () => costing(parts, 'bare', () => bareCopy(input.folder, bareFolder));
  // In turns, so that neither always finds the files in the cache.
  if (night % 2 === 0) await bare();
  await commitNight(nights.warehouse, input, { parts, beforeItsJournalGoes: night % 2 === 0 ? async () => {} : bare });
  return parts;
}

async function commitNight(
  warehouse: string,
  input: StageInput,
  { parts, beforeItsJournalGoes }: { parts: Parts; beforeItsJournalGoes: () => Promise<void> },
): Promise<void> {
  const restore = costCopies(parts);
  const journal = new JournalEngine(input.folder, engineOptions(input.folder.temporary));
  const manifest = await costing(parts, 'stage', async () => {
    const staged = await journal.use(1, (engine) => stageCommit(engine, input));
    journal.close();
    return staged;
  });
  restore();
  await beforeItsJournalGoes();
  await costing(parts, 'renames', () => commitStaged(warehouse, input.folder, manifest));
  await costing(parts, 'follower', () => follow(warehouse));
}

async function follow(warehouse: string): Promise<void> {
  const { behind, reason } = await followDuckdb({ warehouse, memoryLimit: SYNC_MEMORY_LIMIT, lockTimeout: 0 });
  if (behind > 0) throw new Error(reason);
}

/** What any program would have to do: read the journal, sort, write. */
async function bareCopy(folder: JournalFolder, target: string): Promise<void> {
  mkdirSync(target, { recursive: true });
  await withEngine(engineOptions(join(target, 'tmp')), async (engine) => {
    await viewJournal(engine, folder);
    for (const [table, journal] of Object.entries(BARE_TABLES)) {
      const rows =
        table === 'coverage'
          ? "unnest(entry) from journal_listing where kind = 'entry'"
          : `unnest(report) from ${journal}`;
      await engine.copy(`select * from (select ${rows}) order by url`, join(target, table), PARQUET_FORMAT);
    }
  });
}

function tell(parts: Parts[]): void {
  for (const name of new Set(parts.flatMap((each) => [...each.keys()]))) {
    const costs = parts.flatMap((each) => each.get(name) ?? []);
    const [seconds, computed] = [costs.map((cost) => cost.seconds), costs.map((cost) => cost.computed)];
    const all = seconds.map((each) => each.toFixed(2)).join(', ');
    print(`  ${name}: ${all} s; median ${median(seconds).toFixed(2)} s, ${median(computed).toFixed(2)} s computing`);
  }
  const ratio = (of: keyof Cost) =>
    parts.map((each) => COMMIT.reduce((sum, name) => sum + costOf(each, name)[of], 0) / costOf(each, 'bare')[of]);
  judge('commit ÷ bare read_json → COPY, computing', ratio('computed'), null, 2);
  judge('commit ÷ bare read_json → COPY', ratio('seconds'), { atMost: AIM }, 2);
}

function costOf(parts: Parts, name: string): Cost {
  return parts.get(name) ?? { seconds: Number.NaN, computed: Number.NaN };
}

await main();
