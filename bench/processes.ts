import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { packageFolder } from '../src/base/storage/sql.js';

const BUILT = join(packageFolder(), 'dist');
export const PROGRAM = join(BUILT, 'src', 'app', 'cli', 'main.js');
const HOOK = join(BUILT, 'bench', 'cost-hook.js');
const SCRIPT = join(BUILT, 'bench', 'naive-script.js');
const NOBODY = 'http://127.0.0.1:9';
/** As long as the keys of real services are: masking it in every answer is part of the work. */
export const TOKEN = 'bench-5f0c9d1e7a3b4826c1d9e0f7a6b5c4d3';

const costSchema = z.object({
  seconds: z.number(),
  megabytes: z.number(),
  engines: z.int(),
  statements: z.int(),
  /** Whether the client of Search Console was loaded. */
  loadsGoogle: z.boolean(),
});
/** What a process took: of a processor, at most of memory, and of DuckDB. */
export type Cost = z.infer<typeof costSchema>;

/** A server in a process of its own. */
export interface Server {
  url: string;
  /** What it took until now. */
  cost(): Promise<Cost>;
  stop(): Promise<void>;
}

/** `indexhouse simulate` on a free port. */
export function startSimulator(flags: string[]): Promise<Server> {
  return startServer(['simulate', '--port', '0', '--token', TOKEN, ...flags]);
}

/** A command that prints `{"base_url": …}` once it listens. */
export async function startServer(args: string[]): Promise<Server> {
  const child = spawn(process.execPath, ['--import', HOOK, PROGRAM, ...args, '--json'], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout?.setEncoding('utf8').once('data', resolve);
    child.once('close', (code) => reject(new Error(`${args[0]} ended with ${code} before it listened`)));
  });
  const { base_url: url } = z.object({ base_url: z.string() }).parse(JSON.parse(line));
  const cost = async () => {
    child.send('cost');
    const [told] = await once(child, 'message');
    return costSchema.parse(told);
  };
  return { url, cost, stop: () => stopped(child) };
}

async function stopped(child: ChildProcess): Promise<void> {
  const closed = once(child, 'close');
  child.kill('SIGTERM');
  await closed;
}

/** Runs `indexhouse` over a warehouse, whose configuration it writes beside it. @param url of the service */
export async function runProgram(args: string[], warehouse: string, url = NOBODY): Promise<Cost & { stdout: string }> {
  const config = `${warehouse}.json`;
  const api = { base_url: url, token: TOKEN, requests_per_minute: 'unlimited' };
  writeFileSync(config, JSON.stringify({ api, warehouse: { path: warehouse } }));
  return runConfigured(args, config);
}

/** The same with a configuration that is there. */
export function runConfigured(args: string[], config: string): Promise<Cost & { stdout: string }> {
  // `status` finds the snapshots old, and ends with another code.
  return run([PROGRAM, ...args, '--config', config], args[0] === 'status' ? [0, 3] : [0]);
}

/** A first night of a simulated website, and the next one. */
export async function nightsOf(warehouse: string, pages: number): Promise<Record<'first' | 'second', Cost>> {
  const simulator = await startSimulator(['--pages', String(pages), '--rate-limit', 'unlimited']);
  try {
    const night = () => runProgram(['sync', '--log-level', 'warn'], warehouse, simulator.url);
    const first = await night();
    await fetch(`${simulator.url}/control/advance`, { method: 'POST' });
    return { first, second: await night() };
  } finally {
    await simulator.stop();
  }
}

/** Runs `naive-script.ts`. */
export function runScript(args: string[]): Promise<Cost> {
  return run([SCRIPT, ...args], [0]);
}

async function run(args: string[], codes: readonly number[]): Promise<Cost & { stdout: string }> {
  return inFolder(async (folder) => {
    const file = join(folder, 'cost.json');
    const env = { ...process.env, COST_FILE: file };
    const child = spawn(process.execPath, ['--import', HOOK, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const said = Promise.all([text(child.stdout), text(child.stderr)]);
    const [code] = await once(child, 'close');
    const [stdout, stderr] = await said;
    if (!codes.includes(code)) throw new Error(`${args.join(' ')} ended with ${code}: ${stderr}`);
    return { ...costSchema.parse(JSON.parse(readFileSync(file, 'utf8'))), stdout };
  });
}

/** Works in a folder that is removed in the end. */
export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'indexhouse-bench-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
