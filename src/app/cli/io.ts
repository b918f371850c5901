import { basename, relative, sep } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { Command } from 'commander';
import { EXIT } from '../../base/exit.js';
import { shellWord } from '../../base/observe/format.js';
import type { LogLevel } from '../../base/observe/log.js';
import { packageFolder } from '../../base/storage/sql.js';

export { EXIT };

/** A stream that may be a terminal. */
export type Output = Writable & {
  isTTY?: boolean | undefined;
  columns?: number | undefined;
  rows?: number | undefined;
};

/** What a command uses from its process; tests pass their own. */
export interface Io {
  stdin: Readable & { isTTY?: boolean | undefined };
  stdout: Output;
  stderr: Output;
  env: Readonly<Record<string, string | undefined>>;
  /** The folder that relative paths are resolved against. */
  cwd: string;
  /** The command that runs this program: `indexhouse`, or `node .` in a clone. */
  program: string;
  /** A signal that fires on SIGINT and SIGTERM, and a function that stops listening for these. */
  stopSignal(): { signal: AbortSignal; release(): void };
}

/** The process itself. */
export function processIo(): Io {
  const { stdin, stdout, stderr, env } = process;
  const cwd = process.cwd();
  const program = programName({ script: process.argv[1] ?? '', folder: packageFolder(), cwd });
  return { stdin, stdout, stderr, env, cwd, program, stopSignal };
}

/**
 * The command that runs this program: its name if it is installed. In a clone it is not on the `PATH`, and `npx` would
 * pack and install the clone first, so it is `node <folder>`.
 *
 * @param script the script that was started
 * @param folder of this package
 */
export function programName({ script, folder, cwd }: Readonly<Record<'script' | 'folder' | 'cwd', string>>): string {
  const isLinked = basename(script) === 'indexhouse' && script !== folder;
  const isInstalled = isLinked || folder.split(sep).includes('node_modules');
  return isInstalled ? 'indexhouse' : `node ${shellWord(relative(cwd, folder) || '.')}`;
}

/** Turns the first SIGINT or SIGTERM into an abort signal; a second one ends the process at once, as usual. */
function stopSignal(): { signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const stop = () => {
    controller.abort();
    release();
  };
  const release = () => {
    process.off('SIGINT', stop);
    process.off('SIGTERM', stop);
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  return { signal: controller.signal, release };
}

/** Passes a stop signal to `work`, and releases it afterwards. */
export async function stoppable<T>(io: Io, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { signal, release } = io.stopSignal();
  try {
    return await work(signal);
  } finally {
    release();
  }
}

/** Width of a terminal in cells; undefined for a file or a pipe, where nothing is wrapped. */
export function widthOf(stream: Output): number | undefined {
  return stream.isTTY ? terminalWidth(stream) : undefined;
}

/** Columns of a terminal; some, in containers and on serial lines, report 0. */
export function terminalWidth({ columns }: Output): number {
  return columns || 80;
}

/** The options that every command takes, before or after its name. */
export interface Globals {
  config?: string;
  json?: boolean;
  logLevel?: LogLevel;
}

/** The options that say which warehouse is read. */
export interface ReadFlags extends Globals {
  warehouse?: string;
}

/** What a command does, loaded when the command runs. Returns the exit code. */
interface Work<Flags> {
  run(flags: Flags, io: Io, words: string[]): Promise<number>;
}

/** Makes a command from its name and its work; a group of commands has no work of its own. */
export type Define = <Flags extends Globals>(name: string, load?: () => Promise<Work<Flags>>) => Command;
