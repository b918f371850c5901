import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageFolder } from '../../src/storage/sql.js';

/** The built program; `npm test` builds it before the tests run. */
export const PROGRAM = join(packageFolder(), 'dist', 'src', 'cli', 'main.js');

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface Running {
  /** Settles when the process has ended, however it ended. */
  ended: Promise<Ended>;
  pid: number;
  /** Settles when the process has printed something, or has ended. */
  spoken: Promise<void>;
  /** What it has printed to stdout by now. */
  printed(): string;
  kill(signal: NodeJS.Signals): void;
}

/** Starts `indexhouse` as a real process. */
export function start(args: string[], options: { cwd?: string; env?: Record<string, string> } = {}): Running {
  const env = { PATH: process.env['PATH'] ?? '', TMPDIR: tmpdir(), TZ: 'UTC', NO_COLOR: '1', ...options.env };
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd: options.cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const spoken = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) stream.once('data', () => resolve());
    child.once('close', () => resolve());
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  return { ended, spoken, pid: child.pid ?? -1, printed: () => stdout, kill: (signal) => child.kill(signal) };
}

/** Runs `indexhouse` to its end. */
export function run(args: string[], options: { cwd?: string; env?: Record<string, string> } = {}): Promise<Ended> {
  return start(args, options).ended;
}
