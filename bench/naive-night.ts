import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { DEMO_WEBSITE_ID } from '../src/app/demo/simulator/world.js';
import { packageFolder } from '../src/base/storage/sql.js';
import { judge, median, print, RUNS, whole } from './figures.js';
import { runProgram, runScript, type Service, startSimulator, TOKEN } from './processes.js';

/**
 * Processor time of a first night of 20,000 pages with their reports, ÷ that of a naive script (`naive-script.ts`) which
 * fetches the same and loads it into DuckDB and Parquet without checks: once with Node's own fetch, as most scripts do it,
 * and once with a tuned pool of connections. All are whole processes, against the same simulator, at the same concurrency,
 * and take turns.
 *
 * Run with: npm run bench:night
 */
const PAGES = Number(process.env['BENCH_PAGES'] ?? 20_000);
const CONCURRENCY = 8;
const AIM = 1.15;
const BUILT = join(packageFolder(), 'dist', 'bench');
const countsOf = z.object({ seconds: z.number() });

async function main(): Promise<void> {
  const service = await startSimulator(['--pages', String(PAGES), '--rate-limit', 'unlimited']);
  const runs: Record<'ours' | 'fetch' | 'pool', number>[] = [];
  try {
    for (let run = 0; run < RUNS; run++) {
      runs.push({
        fetch: await inFolder(service, script('fetch')),
        ours: await inFolder(service, indexhouse),
        pool: await inFolder(service, script('pool')),
      });
    }
  } finally {
    await service.stop();
  }
  print(`seconds computing for ${whole(PAGES)} pages (medians):`);
  for (const side of ['ours', 'fetch', 'pool'] as const) {
    print(
      `  ${side === 'ours' ? 'indexhouse' : `script with ${side}`} ${median(runs.map((run) => run[side])).toFixed(2)}`,
    );
  }
  const ratios = (side: 'fetch' | 'pool') => runs.map((run) => run.ours / run[side]);
  judge('  indexhouse ÷ script with fetch', ratios('fetch'), { atMost: AIM });
  judge('  indexhouse ÷ script with a pool', ratios('pool'), null);
  print('again: npm run bench:night');
}

type Side = (service: Service, folder: string, options: Options) => Promise<unknown>;
interface Options {
  cwd: string;
  env: Record<string, string>;
  hooks: string[];
}

/** @returns the seconds that one side computed */
async function inFolder(service: Service, side: Side): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'indexhouse-bench-'));
  const file = join(folder, 'counts.json');
  const hooks = ['--import', join(BUILT, 'count-engines.js')];
  try {
    await side(service, folder, { cwd: folder, env: { COUNTS_FILE: file }, hooks });
    return countsOf.parse(JSON.parse(readFileSync(file, 'utf8'))).seconds;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function indexhouse({ url }: Service, folder: string, options: Options): Promise<string> {
  const config = {
    api: { base_url: url, token: TOKEN, requests_per_minute: 'unlimited', concurrency: CONCURRENCY },
  };
  writeFileSync(join(folder, 'indexhouse.yaml'), JSON.stringify(config));
  return runProgram(['sync', '--log-level', 'warn'], options);
}

function script(client: 'fetch' | 'pool'): Side {
  return ({ url }, folder, options) => {
    mkdirSync(join(folder, 'night'));
    const args = [url, TOKEN, DEMO_WEBSITE_ID, join(folder, 'night'), String(CONCURRENCY), client];
    return runScript([join(BUILT, 'naive-script.js'), ...args], options);
  };
}

await main();
