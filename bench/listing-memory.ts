import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageFolder } from '../src/base/storage/sql.js';
import { median, print } from './figures.js';
import { runProgram, startSimulator, TOKEN } from './processes.js';

/**
 * Peak memory of a sync that only lists, for 100,000 and 1,000,000 pages with the default configuration: it must not
 * grow with the number of pages. The simulator runs in a process of its own.
 *
 * Run with: npm run bench:memory
 */
const SIZES = [100_000, 1_000_000];
const RUNS = Number(process.env['BENCH_RUNS'] ?? 3);
const HOOK = join(packageFolder(), 'bench', 'memory-hook.cjs');

async function main(): Promise<void> {
  const peaks = new Map<number, number>();
  for (const pages of SIZES) {
    const measured: number[] = [];
    for (let run = 0; run < RUNS; run++) measured.push(await peakOf(pages));
    peaks.set(pages, median(measured));
    print(`${pages.toLocaleString('en-US')} pages: ${measured.map(mb).join(', ')}; median ${mb(median(measured))}`);
  }
  const [small, large] = SIZES.map((pages) => peaks.get(pages) ?? Number.NaN);
  if (small === undefined || large === undefined) return;
  print(
    `ratio ${(large / small).toFixed(2)} (must be at most 2, aim 1.3); ${mb(large)} (must be under 700 MB, aim 500 MB)`,
  );
  process.exitCode = large / small <= 2 && large < 700_000 ? 0 : 1;
}

/** Peak resident memory in kB of two nights: the second one compares with the state of the first. */
async function peakOf(pages: number): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'indexhouse-bench-'));
  const simulator = await startSimulator(['--pages', String(pages), '--rate-limit', 'unlimited']);
  try {
    writeFileSync(join(folder, 'indexhouse.yaml'), config(simulator.url));
    return Math.max(await sync(folder), await sync(folder));
  } finally {
    await simulator.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function config(url: string): string {
  return JSON.stringify({
    api: { base_url: url, token: TOKEN, requests_per_minute: 'unlimited' },
    reports: { max_per_run: 0 },
  });
}

async function sync(folder: string): Promise<number> {
  const file = join(folder, 'peak');
  await runProgram(['sync', '--log-level', 'warn'], {
    cwd: folder,
    env: { PEAK_MEMORY_FILE: file },
    hooks: ['--require', HOOK],
  });
  return Number(readFileSync(file, 'utf8'));
}

function mb(kilobytes: number): string {
  return `${Math.round(kilobytes / 1000)} MB`;
}

await main();
