import { open, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { UsageError } from '../exit.js';
import { isReport, MARK_BYTES } from '../report/mark.js';

/** @throws UsageError for a file within the warehouse, where every file is the warehouse's own, or taken for one */
export async function checkOutside(warehouse: string, out: string): Promise<void> {
  const [folder, root] = await Promise.all([realOf(dirname(resolve(out))), realOf(resolve(warehouse))]);
  const way = relative(root, join(folder, basename(resolve(out))));
  if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)) return;
  throw new UsageError(`--out ${out} is inside the warehouse ${warehouse}: choose a path outside of it`);
}

/**
 * Nothing but an earlier report is written over.
 *
 * @throws UsageError where a report could not be written, or would take the place of something else
 */
export async function checkReportFile(out: string): Promise<void> {
  const folder = dirname(resolve(out));
  const parent = await stat(folder).catch(() => null);
  if (!parent?.isDirectory()) throw new UsageError(`--out ${out}: folder ${folder} does not exist`);
  const found = await stat(out).catch(() => null);
  if (!found) return;
  if (!found.isFile()) throw new UsageError(`--out ${out} is not a file: name a file`);
  // An empty one, such as `mktemp` makes, holds nothing to lose.
  if (found.size === 0 || isReport(await beginningOf(out))) return;
  throw new UsageError(`--out ${out} exists and is not an indexhouse report: choose another name, or delete it first`);
}

/** A path without symbolic links, as far as there is such a place. */
async function realOf(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

/** The first bytes of a file, as text; nothing of one that cannot be read. */
async function beginningOf(file: string): Promise<string> {
  const handle = await open(file, 'r').catch(() => null);
  if (!handle) return '';
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MARK_BYTES), 0, MARK_BYTES, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}
