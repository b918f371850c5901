import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure, messageOf } from '../exit.js';

/** Signals that ask a process to end. Without a listener, it ends at once, without an 'exit' event. */
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

const folders = new Set<string>();

/**
 * Makes a folder in the system's temporary folder, for files that cannot be in a warehouse, which may be read-only.
 * `removeTemporary` removes it, or the end of the process, unless that is killed.
 */
export function makeTemporary(what: string): string {
  if (folders.size === 0) listen();
  try {
    const folder = mkdtempSync(join(tmpdir(), `indexhouse-${what}-`));
    folders.add(folder);
    return folder;
  } catch (cause) {
    // Without its code, for which a remedy for the warehouse would be added.
    const why = messageOf(cause).replace(/^\w+: ([^,]*).*/, '$1');
    throw new Failure(`no temporary folder can be made in ${tmpdir()} (${why}); set TMPDIR to another one`, { cause });
  } finally {
    if (folders.size === 0) unlisten();
  }
}

export function removeTemporary(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  folders.delete(folder);
  if (folders.size === 0) unlisten();
}

/** Hands a temporary folder to `use`, and removes it whatever happens. */
export async function withTemporary<T>(what: string, use: (folder: string) => Promise<T>): Promise<T> {
  const folder = makeTemporary(what);
  try {
    return await use(folder);
  } finally {
    removeTemporary(folder);
  }
}

function listen(): void {
  process.once('exit', removeAll);
  // First in line, so that all other listeners are still counted.
  for (const signal of SIGNALS) process.prependListener(signal, end);
}

function unlisten(): void {
  process.off('exit', removeAll);
  for (const signal of SIGNALS) process.off(signal, end);
}

/** Ends the process as the signal would have, unless another listener does so in good order. */
function end(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return;
  removeAll();
  process.kill(process.pid, signal);
}

function removeAll(): void {
  for (const folder of [...folders]) removeTemporary(folder);
}
