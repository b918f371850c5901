import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { packageFolder } from '../src/base/storage/sql.js';
import { judge, median, print, RUNS } from './figures.js';
import { runProgram, runScript, startSimulator, TOKEN } from './processes.js';

/**
 * What a command costs before it has anything to do: engines opened, statements run and processor time of small
 * commands, each against a process that loads DuckDB and opens one engine.
 *
 * Run with: npm run bench:fixed
 */
const HOOK = join(packageFolder(), 'dist', 'bench', 'count-engines.js');
const BARE = `const { DuckDBInstance } = require('@duckdb/node-api');
  DuckDBInstance.create(':memory:').then(async (instance) => (await instance.connect()).run('select 1'));`;
const COMMANDS: Record<string, { pages: number; args: string[] }> = {
  "query --sql 'select 1'": { pages: 3, args: ['query', '--sql', 'select 1'] },
  status: { pages: 3, args: ['status'] },
  'sync of 3 pages': { pages: 3, args: ['sync', '--log-level', 'warn'] },
  'sync of 20 pages': { pages: 20, args: ['sync', '--log-level', 'warn'] },
};

/** One for the listing and the plan, one for staging, one for `indexhouse.duckdb`. */
const NIGHT_ENGINES = 3;

const countsOf = z.object({ engines: z.int(), statements: z.int(), seconds: z.number() });
type Counts = z.infer<typeof countsOf>;

async function main(): Promise<void> {
  for (const [name, { pages, args }] of Object.entries(COMMANDS)) {
    const runs = await inWorld(pages, (folder) => measured(folder, args));
    const [first] = runs;
    print(`${name}: ${first?.own.engines} engines, ${first?.own.statements} statements`);
    if (args[0] === 'sync') {
      const engines = runs.map(({ own }) => own.engines - 1);
      judge('  engines beside the run lock', engines, { atMost: NIGHT_ENGINES, each: true }, 0);
    }
    print(`  ${median(runs.map(({ own }) => own.seconds)).toFixed(2)} s computing`);
    judge(
      `  ${name} ÷ a bare process`,
      runs.map(({ own, bare }) => own.seconds / bare),
      null,
      1,
    );
  }
  print('again: npm run bench:fixed');
}

/** In turns with the bare process, behind two nights that make the warehouse. */
async function measured(folder: string, args: string[]): Promise<{ own: Counts; bare: number }[]> {
  const sync = ['sync', '--log-level', 'warn'];
  for (let night = 0; night < 2; night++) await run(folder, sync);
  const runs = [];
  for (let at = 0; at < RUNS; at++)
    runs.push({ bare: (await run(folder, null)).seconds, own: await run(folder, args) });
  return runs;
}

/** @param args of the program; null: the bare process */
async function run(folder: string, args: string[] | null): Promise<Counts> {
  const file = join(folder, 'counts.json');
  const options = { cwd: folder, env: { COUNTS_FILE: file }, hooks: ['--import', HOOK] };
  if (args) await runProgram(args, options);
  // From here DuckDB is found.
  else await runScript(['--eval', BARE], { ...options, cwd: packageFolder() });
  return countsOf.parse(JSON.parse(readFileSync(file, 'utf8')));
}

async function inWorld<T>(pages: number, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'indexhouse-bench-'));
  const simulator = await startSimulator(['--pages', String(pages), '--rate-limit', 'unlimited']);
  const config = {
    api: { base_url: simulator.url, token: TOKEN, requests_per_minute: 'unlimited' },
  };
  try {
    writeFileSync(join(folder, 'indexhouse.yaml'), JSON.stringify(config));
    return await work(folder);
  } finally {
    await simulator.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

await main();
