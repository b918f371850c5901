import { readFile, stat } from 'node:fs/promises';
import { z } from 'zod';
import { makeFolder, writeDurably } from '../storage/durable.js';
import type { JournalFolder } from './folder.js';

/** Raised when the meaning of a journal's files changes; an older version's journal is then finished by that version. */
const JOURNAL_FORMAT = 1;

const headerSchema = z.object({
  journal_format: z.literal(JOURNAL_FORMAT),
  run_id: z.string(),
  website_id: z.string(),
  website_name: z.string().nullable(),
  /** The id that the commit will have, however often the run is interrupted. */
  snapshot_id: z.string(),
  started_at: z.iso.datetime(),
  version: z.string(),
  /** How often the run was taken up again. */
  resumed: z.int().nonnegative(),
});
export type RunHeader = Omit<z.infer<typeof headerSchema>, 'journal_format'>;

/** A journal that cannot be used as it is. Its files are kept. */
export class JournalError extends Error {
  override name = 'JournalError';
}

export async function writeHeader(folder: JournalFolder, header: RunHeader): Promise<void> {
  await makeFolder(folder.path);
  await writeDurably(folder.header, `${JSON.stringify({ journal_format: JOURNAL_FORMAT, ...header }, null, 2)}\n`);
}

/**
 * What the run is, or null where it died before it wrote that: nothing was asked for then.
 *
 * @throws JournalError where the header is damaged or of another version
 */
export async function readHeader(folder: JournalFolder): Promise<RunHeader | null> {
  let text: string;
  try {
    text = await readFile(folder.header, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
  const parsed = headerSchema.safeParse(parse(text));
  if (parsed.success) return parsed.data;
  throw new JournalError(
    `the journal of an unfinished run cannot be read: ${folder.header} is ${describe(text)}. Its files are kept. ` +
      'Finish it with the version of indexhouse that wrote it, or move the folder away to begin anew ' +
      '(what it had fetched is then fetched again)',
  );
}

/** When the run last wrote something, in milliseconds since 1970. */
export async function lastActivity(folder: JournalFolder): Promise<number> {
  const files = [folder.header, folder.listing, folder.plan, folder.reports];
  const times = await Promise.all(files.map((file) => modified(file)));
  return Math.max(...times);
}

async function modified(file: string): Promise<number> {
  try {
    return (await stat(file)).mtimeMs;
  } catch {
    return 0;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function describe(text: string): string {
  const format = z.object({ journal_format: z.int() }).safeParse(parse(text));
  if (!format.success) return 'damaged';
  const { journal_format: found } = format.data;
  return found === JOURNAL_FORMAT ? 'damaged' : `of journal format ${found}, and this version writes ${JOURNAL_FORMAT}`;
}
