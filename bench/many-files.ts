import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { packageFolder } from '../src/storage/sql.js';
import type { DataTable } from '../src/warehouse/tables.js';
import { judge, median, print, RUNS, whole } from './figures.js';
import { generateCommits } from './generate-commits.js';
import { runProgram, TOKEN } from './processes.js';

/**
 * What small questions cost over a warehouse of many commits, a year of five websites, against the same over two commits.
 *
 * Run with: npm run bench:files. `BENCH_WEBSITES` and `BENCH_NIGHTS` make more or fewer of them.
 */
const WEBSITES = Number(process.env['BENCH_WEBSITES'] ?? 5);
const NIGHTS = Number(process.env['BENCH_NIGHTS'] ?? 365);
const TABLES: readonly DataTable[] = ['coverage', 'coverage_summary', 'url_reports', 'page_changes'];
const HOOK = join(packageFolder(), 'dist', 'bench', 'count-engines.js');
const COMMANDS: Record<string, { args: string[]; aim: { atMost: number } | null }> = {
  "query --sql 'select 1'": { args: ['--sql', 'select 1'], aim: { atMost: 1.5 } },
  'query of runs': { args: ['--sql', 'select count(*) from runs'], aim: null },
  'query indexing_trend': { args: ['indexing_trend', '--format', 'json'], aim: null },
};

const countsOf = z.object({ seconds: z.number(), megabytes: z.number() });

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'indexhouse-bench-'));
  const warehouse = join(folder, 'warehouse');
  try {
    print(`${whole(WEBSITES * NIGHTS)} commits: ${WEBSITES} websites, ${NIGHTS} nights`);
    await generateCommits({ warehouse, websites: WEBSITES, nights: NIGHTS, tables: TABLES });
    for (const [name, { args, aim }] of Object.entries(COMMANDS)) {
      const pairs = [];
      for (let at = 0; at < RUNS; at++) {
        pairs.push({ many: await measured(warehouse, args), few: await measured(`${warehouse}.model`, args) });
      }
      print(`${name}: ${median(pairs.map(({ many }) => many.seconds)).toFixed(2)} s computing`);
      judge(
        '  ÷ the same over two commits',
        pairs.map(({ many, few }) => many.seconds / few.seconds),
        aim,
        2,
      );
      judge(
        '  MB at most',
        pairs.map(({ many }) => many.megabytes),
        null,
        0,
      );
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  print('again: npm run bench:files');
}

async function measured(warehouse: string, asked: string[]): Promise<z.infer<typeof countsOf>> {
  const [config, file] = [`${warehouse}.yaml`, `${warehouse}.json`];
  const api = { base_url: 'http://127.0.0.1:9', token: TOKEN };
  writeFileSync(config, JSON.stringify({ api, warehouse: { path: warehouse } }));
  const args = ['query', '--config', config, ...asked];
  await runProgram(args, { cwd: tmpdir(), env: { COUNTS_FILE: file }, hooks: ['--import', HOOK] });
  return countsOf.parse(JSON.parse(readFileSync(file, 'utf8')));
}

await main();
