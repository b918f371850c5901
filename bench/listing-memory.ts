import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageFolder } from '../src/storage/sql.js';

/**
 * Peak memory of a sync that only lists, for 100,000 and 1,000,000 pages with `memory_limit: 256MB`: it must not grow
 * with the number of pages. The simulator runs in a process of its own.
 *
 * Run with: npm run bench:memory
 */
const SIZES = [100_000, 1_000_000];
const RUNS = Number(process.env['BENCH_RUNS'] ?? 3);
const PROGRAM = join(packageFolder(), 'dist', 'src', 'cli', 'main.js');
const HOOK = join(packageFolder(), 'bench', 'memory-hook.cjs');
const TOKEN = 'demo-token';

async function main(): Promise<void> {
  const peaks = new Map<number, number>();
  for (const pages of SIZES) {
    const measured: number[] = [];
    for (let run = 0; run < RUNS; run++) measured.push(await peakOf(pages));
    const median = measured.sort((a, b) => a - b)[Math.floor(RUNS / 2)] ?? Number.NaN;
    peaks.set(pages, median);
    print(`${pages.toLocaleString('en-US')} pages: ${measured.map(mb).join(', ')}; median ${mb(median)}`);
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
  const simulator = await startSimulator(pages);
  try {
    writeFileSync(join(folder, 'indexhouse.yaml'), config(simulator.url));
    return Math.max(await sync(folder), await sync(folder));
  } finally {
    simulator.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function config(url: string): string {
  return JSON.stringify({
    api: { base_url: url, token: TOKEN, requests_per_minute: 'unlimited' },
    reports: { max_per_run: 0 },
    warehouse: { memory_limit: '256MB', min_free_disk: '1MB' },
  });
}

async function startSimulator(pages: number): Promise<{ url: string; stop(): void }> {
  const args = [
    'simulate',
    '--json',
    '--port',
    '0',
    '--pages',
    String(pages),
    '--rate-limit',
    'unlimited',
    '--token',
    TOKEN,
  ];
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const text = await new Promise<string>((resolve) => child.stdout.setEncoding('utf8').once('data', resolve));
  const url = /"base_url": ?"([^"]+)"/.exec(text)?.[1];
  if (!url) throw new Error(`the simulator said no address: ${text}`);
  return { url, stop: () => child.kill('SIGTERM') };
}

async function sync(folder: string): Promise<number> {
  const file = join(folder, 'peak');
  const env = { ...process.env, PEAK_MEMORY_FILE: file };
  const child = spawn(process.execPath, ['--require', HOOK, PROGRAM, 'sync', '--log-level', 'warn'], {
    cwd: folder,
    env,
    stdio: 'ignore',
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  if (code !== 0) throw new Error(`sync ended with ${code}`);
  return Number(readFileSync(file, 'utf8'));
}

function mb(kilobytes: number): string {
  return `${Math.round(kilobytes / 1000)} MB`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

await main();
