import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What asks a process to end. Without a listener it ends at once, and 'exit' is not heard. */
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

const folders = new Set<string>();

/**
 * Makes a folder of our own in the system's temporary folder, for what has no place in a warehouse that may be
 * read-only. It goes with `removeTemporary`, and at the latest with the process, unless that is killed.
 */
export function makeTemporary(what: string): string {
  if (folders.size === 0) listen();
  try {
    const folder = mkdtempSync(join(tmpdir(), `indexhouse-${what}-`));
    folders.add(folder);
    return folder;
  } finally {
    if (folders.size === 0) unlisten();
  }
}

export function removeTemporary(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  folders.delete(folder);
  if (folders.size === 0) unlisten();
}

/** Hands a folder of our own to `use`, and removes it whatever happens. */
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
  // First of all, so that whoever else listens is still counted.
  for (const signal of SIGNALS) process.prependListener(signal, end);
}

function unlisten(): void {
  process.off('exit', removeAll);
  for (const signal of SIGNALS) process.off(signal, end);
}

/** Ends the process as the signal would have, unless somebody else listens, who ends it in good order. */
function end(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return;
  removeAll();
  process.kill(process.pid, signal);
}

function removeAll(): void {
  for (const folder of [...folders]) removeTemporary(folder);
}
