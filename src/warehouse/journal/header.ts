import { stat } from 'node:fs/promises';
import { z } from 'zod';
import { Failure } from '../../base/exit.js';
import { makeFolder, readIfThere, writeDurably } from '../../base/storage/durable.js';
import { jsonOf } from '../../base/validate.js';
import type { JournalFolder } from './folder.js';
import { openSeal, seal, seedOf } from './seal.js';

/** Increased when the meaning of a journal's files changes; a journal of another format is set aside. */
const JOURNAL_FORMAT = 2;

const setAsideSchema = z.object({
  /** Where the damaged journal is kept, relative to the warehouse folder. */
  folder: z.string(),
  /** What was damaged. */
  damage: z.string(),
});
/** A damaged journal that was set aside; the run started over. */
export type SetAside = z.infer<typeof setAsideSchema>;

const headerSchema = z.object({
  journal_format: z.literal(JOURNAL_FORMAT),
  run_id: z.string(),
  website_id: z.string(),
  website_name: z.string().nullable(),
  /** The id that the commit will have, however often the run is interrupted. */
  snapshot_id: z.string(),
  started_at: z.iso.datetime(),
  version: z.string(),
  /** How often the run was resumed. */
  resumed: z.int().nonnegative(),
  /** Whether the run is no night: it inspects only pages that the user asked about. */
  asked: z.boolean().optional(),
  set_aside: setAsideSchema.optional(),
});
export type RunHeader = Omit<z.infer<typeof headerSchema>, 'journal_format'>;

/** A journal that cannot be used as it is: the next sync sets it aside. */
export class JournalError extends Failure {}

export async function writeHeader(folder: JournalFolder, header: RunHeader): Promise<void> {
  await makeFolder(folder.path);
  const text = JSON.stringify({ ...header, journal_format: JOURNAL_FORMAT });
  await writeDurably(folder.header, `${seal(text, seedOf(folder)).text}\n`);
}

/**
 * Reads the run's header, or null if the run died before it wrote one: it had sent no request then.
 *
 * @throws JournalError if the header is damaged, of another journal or of another version
 */
export async function readHeader(folder: JournalFolder): Promise<RunHeader | null> {
  const text = await readIfThere(folder.header);
  if (text === null) return null;
  const { data: other } = z.object({ journal_format: z.int() }).safeParse(jsonOf(text));
  if (other && other.journal_format !== JOURNAL_FORMAT) {
    const what = `has journal format ${other.journal_format}; this version has ${JOURNAL_FORMAT}`;
    throw new JournalError(`${folder.header} ${what}`);
  }
  const parsed = headerSchema.safeParse(jsonOf(text));
  const { isWhole } = openSeal(text.trimEnd(), seedOf(folder));
  if (!parsed.success || !isWhole) throw new JournalError(`${folder.header} is damaged`);
  const { data } = parsed;
  if (data.run_id === folder.runId && data.website_id === folder.websiteId) return data;
  throw new JournalError(`${folder.header} belongs to another run or website`);
}

/** When the run last wrote something, in milliseconds since 1970. */
export async function lastActivity(folder: JournalFolder): Promise<number> {
  const files = [folder.header, folder.listing, folder.plan, folder.reports];
  const times = await Promise.all(
    files.map((file) =>
      stat(file)
        .then(({ mtimeMs }) => mtimeMs)
        .catch(() => 0),
    ),
  );
  return Math.max(...times);
}
