import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { runCli } from '../../src/app/cli/program.js';
import { packageFolder } from '../../src/base/storage/sql.js';
import { RUN_LIMITS } from '../../src/sync/context.js';
import { forgetClocks } from './client-clock.js';

/** The built program; `npm test` builds it before the tests run. */
export const PROGRAM = join(packageFolder(), 'dist', 'src', 'app', 'cli', 'indexhouse.cjs');

/** No command of a test works for so long, however busy the machine: one that does would run for ever. */
const LIMIT_MS = 10 * 60_000;
/** Within which a process says something. */
const SILENT_MS = 10 * 60_000;

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
  /** The same of stderr. */
  logged(): string;
  kill(signal: NodeJS.Signals): void;
}

/** Starts `indexhouse` as a real process. */
export function start(args: string[], options: { cwd?: string; env?: Record<string, string> } = {}): Running {
  const env = {
    PATH: process.env['PATH'] ?? '',
    TMPDIR: tmpdir(),
    TZ: 'UTC',
    NO_COLOR: '1',
    ...bucketEnvironment(),
    ...options.env,
  };
  forgetClocks();
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
  const silent = setTimeout(() => child.kill('SIGKILL'), SILENT_MS);
  void spoken.then(() => clearTimeout(silent));
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  return {
    ended,
    spoken,
    pid: child.pid ?? -1,
    printed: () => stdout,
    logged: () => stderr,
    kill: (signal) => child.kill(signal),
  };
}

/** Runs `indexhouse` as a real process to its end. */
export function runProcess(
  args: string[],
  options: { cwd?: string; env?: Record<string, string> } = {},
): Promise<Ended> {
  const running = start(args, options);
  const late = setTimeout(() => running.kill('SIGKILL'), LIMIT_MS);
  return running.ended.finally(() => clearTimeout(late));
}

export interface RunOptions {
  /** Asks it to stop, as SIGTERM would. */
  signal?: AbortSignal;
  cwd?: string;
  env?: Record<string, string>;
  /** Cells of a terminal; left out: stdout is a pipe. */
  columns?: number;
  /** Lines of that terminal; left out: unknown, so nothing is paged. */
  rows?: number;
  /** What somebody types at a terminal, a line for each question. */
  typed?: Iterable<string> | AsyncIterable<string>;
  /** Called with each text that it prints, to stdout or stderr, while it runs. */
  onPrinted?: (text: string) => void;
}

const { confirmation } = RUN_LIMITS;

/**
 * Runs `indexhouse` in this process, with streams of its own: as a real process does, and many times as fast.
 *
 * @throws Error where it had to be stopped
 */
export async function run(args: string[], options: RunOptions = {}): Promise<Ended & { bytes: Buffer }> {
  const { cwd = process.cwd(), env = {}, columns, rows, typed, signal, onPrinted } = options;
  const [stdout, stderr] = [collector(onPrinted), collector(onPrinted)];
  forgetClocks();
  // Nobody waits for second looks.
  RUN_LIMITS.confirmation = { pauses: [0, 0, 0], between: 0 };
  const isTTY = columns !== undefined || typed !== undefined;
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), LIMIT_MS);
  const stop = signal ? AbortSignal.any([signal, limit.signal]) : limit.signal;
  const code = await runCli(args, {
    stdin: Object.assign(Readable.from(linesOf(typed ?? [])), { isTTY: typed !== undefined }),
    stdout: Object.assign(stdout.stream, { isTTY, columns: columns ?? 80, rows }),
    stderr: stderr.stream,
    env: { NO_COLOR: '1', ...bucketEnvironment(), ...env },
    cwd,
    program: 'indexhouse',
    stopSignal: () => ({ signal: stop, release: () => {} }),
  });
  RUN_LIMITS.confirmation = confirmation;
  clearTimeout(timer);
  if (limit.signal.aborted) throw new Error(`indexhouse ${args.join(' ')} went on until it was stopped`);
  const bytes = stdout.bytes();
  return { code, signal: null, stdout: bytes.toString(), bytes, stderr: stderr.bytes().toString() };
}

async function* linesOf(texts: Iterable<string> | AsyncIterable<string>): AsyncGenerator<Buffer> {
  for await (const text of texts) yield Buffer.from(`${text}\n`);
}

/** A stream that keeps what is written to it. */
function collector(onText?: (text: string) => void): { stream: Writable; bytes(): Buffer } {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write: (chunk: Buffer | string, _encoding, done) => {
      chunks.push(Buffer.from(chunk));
      onText?.(String(chunk));
      done();
    },
  });
  return { stream, bytes: () => Buffer.concat(chunks) };
}

/** Where the bucket of this process's test is, if it has started one. */
function bucketEnvironment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (name.startsWith('AWS_') && value ? [[name, value]] : [])),
  );
}
