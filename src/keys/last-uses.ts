import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { writeDurably } from '../storage/durable.js';
import { warehouseFolder } from '../warehouse/layout.js';
import { readKeys } from './key-file.js';

const OWNER_ONLY = 0o600;

/** By the key's id. */
const lastUsesFile = z.record(z.string(), z.iso.datetime());

/** When each key of a warehouse was last used, by its id; empty if the file is missing or damaged. */
export async function readLastUses(warehouse: string): Promise<Readonly<Record<string, string>>> {
  try {
    return lastUsesFile.parse(JSON.parse(await readFile(warehouseFolder(warehouse).keyUses, 'utf8')));
  } catch {
    return {};
  }
}

/**
 * Records when keys were last used, in a file of its own, because that of the keys is only written when they change.
 * The times are in memory until they are written, so a process that is killed loses the last minute.
 */
export class LastUses {
  readonly #uses = new Map<string, string>();
  #isWritten = true;

  constructor(
    private readonly warehouse: string,
    private readonly now: () => number = Date.now,
  ) {}

  note(keyId: string): void {
    this.#uses.set(keyId, new Date(this.now()).toISOString());
    this.#isWritten = false;
  }

  /** Merges the noted uses into the file. If the folder is read-only, they are lost. */
  async write(): Promise<void> {
    if (this.#isWritten) return;
    this.#isWritten = true;
    try {
      const merged = { ...(await readLastUses(this.warehouse)) };
      for (const [id, at] of this.#uses) if (at > (merged[id] ?? '')) merged[id] = at;
      const known = new Set((await readKeys(this.warehouse)).map(({ id }) => id));
      const kept = Object.fromEntries(Object.entries(merged).filter(([id]) => known.has(id)));
      await writeDurably(warehouseFolder(this.warehouse).keyUses, `${JSON.stringify(kept, null, 2)}\n`, OWNER_ONLY);
    } catch {
      // Not worth an error: the next use is written again.
    }
  }
}
