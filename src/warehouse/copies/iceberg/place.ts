import { readFile, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ifThere, makeFolder, writeDurably } from '../../../base/storage/durable.js';
import { checkAreFiles } from '../../../base/storage/only-files.js';
import type { Bucket } from '../../bucket/client.js';
import { pathKey } from '../../bucket/keys.js';
import { namesIn } from '../../log/folder/layout.js';

/** Where the tables are published. Paths are relative to the warehouse, with `/`. */
export interface Place {
  /** The absolute address under which readers find a file of the warehouse. */
  address(path: string): string;
  /** Null where there is no such file. */
  read(path: string): Promise<Buffer | null>;
  /** The size in bytes of a state, which may have been rebuilt here since. Null if there is no such file. */
  stateSize(path: string): Promise<number | null>;
  /** Writes a complete file, replacing an existing one. */
  write(path: string, bytes: Uint8Array): Promise<void>;
  /** The names in a folder; none if it does not exist. */
  names(folder: string): Promise<string[]>;
  /** Removes a file if it exists. */
  remove(path: string): Promise<void>;
}

/** The folder of the warehouse. */
export function folderPlace(warehouse: string): Place {
  const local = (path: string) => join(warehouse, path);
  return {
    address: (path) => `file://${local(path)}`,
    async read(path) {
      checkAreFiles([local(path)]);
      return ifThere(readFile(local(path)), null);
    },
    stateSize: async (path) => (await ifThere(stat(local(path)), null))?.size ?? null,
    async write(path, bytes) {
      await makeFolder(dirname(local(path)));
      await writeDurably(local(path), bytes);
    },
    names: (folder) => namesIn(local(folder)),
    remove: (path) => rm(local(path), { force: true }),
  };
}

/** A bucket, whose keys are the paths of the warehouse. */
export function bucketPlace(bucket: Bucket): Place {
  let states: Promise<Map<string, number>> | undefined;
  return {
    address: (path) => `${bucket.url}/${pathKey(path)}`,
    read: async (path) => (await bucket.get(pathKey(path)))?.body ?? null,
    async stateSize(path) {
      states ??= sizesIn(bucket, 'state/');
      return (await states).get(pathKey(path)) ?? null;
    },
    async write(path, bytes) {
      await bucket.put(pathKey(path), bytes, { ifAbsent: false });
    },
    async names(folder) {
      const prefix = `${pathKey(folder)}/`;
      const names = (await bucket.keys(prefix)).map((key) => key.slice(prefix.length));
      return names.filter((name) => !name.includes('/'));
    },
    remove: (path) => bucket.remove(pathKey(path)),
  };
}

async function sizesIn(bucket: Bucket, prefix: string): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  for await (const { key, size } of bucket.list(prefix)) sizes.set(key, size);
  return sizes;
}
