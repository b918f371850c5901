import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageFolder } from '../src/base/storage/sql.js';
import { warehouseFolder } from '../src/warehouse/log/folder/layout.js';
import type { DataTable } from '../src/warehouse/log/folder/tables.js';
import { type Aim, judge, print, RUNS, whole } from './figures.js';
import { dateOfNight, generateCommits } from './generate-commits.js';
import { type Counts, measured, measureProgram } from './measured.js';
import { runScript, startSimulator } from './processes.js';

/**
 * What small commands cost over a warehouse of many commits: by default a year of five websites. Each question is also
 * measured against the same over two commits.
 *
 * Run with: npm run bench:files. `BENCH_WEBSITES=200 BENCH_NIGHTS=500` makes 100,000 commits; `BENCH_WAREHOUSE` names a
 * folder where they stay for the next time.
 */
const WEBSITES = Number(process.env['BENCH_WEBSITES'] ?? 5);
const NIGHTS = Number(process.env['BENCH_NIGHTS'] ?? 365);
const KEPT = process.env['BENCH_WAREHOUSE'];
const TABLES: readonly DataTable[] = ['coverage', 'coverage_summary', 'url_reports', 'page_versions'];
const UPDATE_INDEX = join(packageFolder(), 'dist', 'bench', 'update-index.js');
/** Questions about everything open every file: they are left out above so many commits. */
const MOST_OPENED = 10_000;
const WEBSITE = 'site-001';
const MONTH = [`website=${WEBSITE}`, `since=${dateOfNight(NIGHTS - 60)}`, `until=${dateOfNight(NIGHTS - 31)}`];

interface Measured {
  args: string[];
  aim?: Aim;
  /** Whether it is measured over two commits, too. */
  compared?: boolean;
  opensAll?: boolean;
}
const COMMANDS: Record<string, Measured> = {
  "query --sql 'select 1'": { args: ['query', '--sql', 'select 1'], aim: { atMost: 1.5 }, compared: true },
  'query of runs': { args: ['query', '--sql', 'select count(*) from runs'], compared: true },
  'indexing_trend of a website': { args: ['query', 'indexing_trend', `website=${WEBSITE}`] },
  'deindexed_pages of a website and month': { args: ['query', 'deindexed_pages', ...MONTH] },
  'coverage_by_state of a website and month': { args: ['query', 'coverage_by_state', ...MONTH] },
  'sync of a website with 3 pages': { args: ['sync', '--website', WEBSITE, '--log-level', 'warn'] },
  status: { args: ['status'] },
  'query indexing_trend': { args: ['query', 'indexing_trend', '--format', 'json'], compared: true, opensAll: true },
};

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'indexhouse-bench-'));
  const warehouse = KEPT ?? join(folder, 'warehouse');
  const simulator = await startSimulator(['--pages', '3', '--rate-limit', 'unlimited', '--website', WEBSITE]);
  try {
    print(`${whole(WEBSITES * NIGHTS)} commits: ${WEBSITES} websites, ${NIGHTS} nights`);
    if (!existsSync(warehouse)) {
      const begun = performance.now();
      await generateCommits({ warehouse, websites: WEBSITES, nights: NIGHTS, tables: TABLES });
      print(`made in ${whole((performance.now() - begun) / 1000)} s`);
    }
    await benchIndex(warehouse);
    for (const [name, command] of Object.entries(COMMANDS)) {
      if (!command.opensAll || WEBSITES * NIGHTS <= MOST_OPENED)
        await benchCommand(name, command, warehouse, simulator.url);
    }
  } finally {
    await simulator.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  print('again: npm run bench:files');
}

/** The first index of all nights but the newest ones, and one that takes a night more. */
async function benchIndex(warehouse: string): Promise<void> {
  rmSync(warehouseFolder(warehouse).index, { recursive: true, force: true });
  for (const [name, night] of [
    ['the first index', NIGHTS - 3],
    ['an index with a night more', NIGHTS - 2],
  ] as const) {
    const counts = await measured((options) => runScript([UPDATE_INDEX, warehouse, dateOfNight(night)], options));
    tell(name, [counts]);
  }
}

async function benchCommand(
  name: string,
  { args, aim, compared }: Measured,
  warehouse: string,
  url: string,
): Promise<void> {
  const many: Counts[] = [];
  const few: Counts[] = [];
  for (let at = 0; at < RUNS; at++) {
    many.push(await measureProgram(warehouse, args, url));
    if (compared) few.push(await measureProgram(`${warehouse}.model`, args, url));
  }
  tell(name, many);
  if (!compared) return;
  const ratios = many.map(({ seconds }, at) => seconds / (few[at]?.seconds ?? Number.NaN));
  judge('  ÷ the same over two commits', ratios, aim ?? null, 2);
}

function tell(name: string, counts: readonly Counts[]): void {
  judge(
    `${name}: s computing`,
    counts.map(({ seconds }) => seconds),
    null,
    2,
  );
  judge(
    '  MB at most',
    counts.map(({ megabytes }) => megabytes),
    null,
    0,
  );
}

await main();
