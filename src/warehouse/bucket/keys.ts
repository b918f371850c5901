import { join, relative, sep } from 'node:path';
import { warehousePath } from '../log/folder/layout.js';

/** The key of a file: its path in the warehouse. */
export function keyOf(warehouse: string, file: string): string {
  return pathKey(relative(warehouse, file).split(sep).join('/'));
}

/**
 * A path of a warehouse as a key: with `!` for each `%` of an encoded id, because some servers leave keys with `%` out of
 * their listings, or decode them. No path of a warehouse has a `!` of its own.
 */
export function pathKey(path: string): string {
  return path.replaceAll('%', '!');
}

/** The file that a key stands for; null if it is not a path of a warehouse. */
export function fileOfKey(warehouse: string, key: string): string | null {
  const path = key.replaceAll('!', '%');
  return path === 'warehouse.json' || warehousePath.test(path) ? join(warehouse, path) : null;
}

/** `…/<id>.parquet` */
export function idOfKey(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1).replace(/\.parquet$/, '');
}
