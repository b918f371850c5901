import { link, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf, ifThere, makeFolder, syncFolder, writeDurably } from '../../storage/durable.js';
import { namesIn } from '../../warehouse/layout.js';

/** Where the metadata of tables is kept. Paths are relative to the warehouse, with `/`. */
export interface Place {
  /** The absolute address under which readers find a file of the warehouse. */
  address(path: string): string;
  /** Null where there is no such file. */
  read(path: string): Promise<Buffer | null>;
  /** The size in bytes of a state, which may have been rebuilt. Null if there is no such file. */
  stateSize(path: string): Promise<number | null>;
  /** Writes a file under a name that nobody else uses. Nobody reads it before another file names it. */
  write(path: string, bytes: Uint8Array): Promise<void>;
  /** Writes a complete file unless one of this name exists. @returns whether it wrote it */
  create(path: string, bytes: Uint8Array): Promise<boolean>;
  /** Writes a complete file, replacing an existing one. */
  replace(path: string, bytes: Uint8Array): Promise<void>;
  /** The names in a folder; none if it does not exist. */
  names(folder: string): Promise<string[]>;
  /** Removes a file if it exists. */
  remove(path: string): Promise<void>;
}

/** The folder of the warehouse itself. */
export function localPlace(warehouse: string): Place {
  const local = (path: string) => join(warehouse, path);
  return {
    address: (path) => `file://${local(path)}`,
    read: (path) => ifThere(readFile(local(path)), null),
    stateSize: async (path) => (await ifThere(stat(local(path)), null))?.size ?? null,
    async write(path, bytes) {
      await makeFolder(dirname(local(path)));
      await writeFile(local(path), bytes, { flush: true });
    },
    create: (path, bytes) => createDurably(local(path), bytes),
    replace: (path, bytes) => writeDurably(local(path), bytes),
    names: (folder) => namesIn(local(folder)),
    remove: (path) => rm(local(path), { force: true }),
  };
}

/** Uses a link, which unlike a rename replaces nothing. The names of files written before reach the disk with it. */
async function createDurably(file: string, bytes: Uint8Array): Promise<boolean> {
  const made = `${file}.new`;
  await makeFolder(dirname(file));
  await writeDurably(made, bytes);
  try {
    await link(made, file);
    await syncFolder(dirname(file));
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(made, { force: true });
  }
}
