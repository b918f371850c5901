import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { z } from 'zod';
import { packageFolder } from '../src/base/storage/sql.js';

const PROGRAM = join(packageFolder(), 'dist', 'src', 'app', 'cli', 'main.js');
const BUILT_BENCHES = join(packageFolder(), 'dist', 'bench');
/** As long as the keys of real services are: masking it in every answer is part of the work. */
export const TOKEN = 'bench-5f0c9d1e7a3b4826c1d9e0f7a6b5c4d3';

/** A service in a process of its own. */
export interface Service {
  /** What goes in front of `/v1`. */
  url: string;
  stop(): Promise<void>;
}

const started = z.object({ base_url: z.string() });

/** `indexhouse simulate` on a free port, with these flags; its control path is below `<url>/control`. */
export function startSimulator(flags: string[]): Promise<Service> {
  return startService([PROGRAM, 'simulate', '--json', '--port', '0', '--token', TOKEN, ...flags]);
}

/** A built script of this folder which says `{"base_url": …}` when it listens. */
export function startBenchService(name: string, args: string[]): Promise<Service> {
  return startService([join(BUILT_BENCHES, `${name}.js`), ...args]);
}

async function startService(args: string[]): Promise<Service> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const text = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').once('data', resolve);
    child.once('close', (code) => reject(new Error(`the service ended with ${code} before it listened`)));
  });
  const { base_url: url } = started.parse(JSON.parse(text));
  return { url, stop: () => stopped(child) };
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, 'close');
  child.kill('SIGTERM');
  await closed;
}

/**
 * Runs `indexhouse` to its end.
 *
 * @param hooks arguments of Node itself, such as `--require`
 * @returns what it printed on stdout
 * @throws Error if it ends with another code than `codes`
 */
export function runProgram(args: string[], options: ScriptOptions): Promise<string> {
  return runScript([PROGRAM, ...args], options);
}

export interface ScriptOptions {
  cwd: string;
  env?: Record<string, string>;
  hooks?: string[];
  /** The exit codes that are no failure; by default 0. */
  codes?: readonly number[];
}

/** The same of any script, or of Node's own flags. */
export async function runScript(
  args: string[],
  { cwd, env = {}, hooks = [], codes = [0] }: ScriptOptions,
): Promise<string> {
  const child = spawn(process.execPath, [...hooks, ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const pieces: Buffer[] = [];
  child.stdout.on('data', (piece: Buffer) => pieces.push(piece));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  if (code === null || !codes.includes(code)) throw new Error(`${args.join(' ')} ended with ${code}`);
  return Buffer.concat(pieces).toString('utf8');
}
