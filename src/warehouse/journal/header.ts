import { z } from 'zod';
import { Failure } from '../../base/exit.js';
import { makeFolder, readIfThere, statIfThere } from '../../base/storage/durable.js';
import { HOUR_MS } from '../../base/time.js';
import { jsonOf } from '../../base/validate.js';
import { type JournalFolder, setAsidePath } from './folder.js';
import { readSealed, writeSealed } from './seal.js';

/** Increased when the meaning of a journal's files changes; a journal of another format is set aside. */
const JOURNAL_FORMAT = 2;

/** A younger run is resumed: what an older one listed would no longer be true of this night. */
export const RESUME_WITHIN_MS = 6 * HOUR_MS;

const setAsideSchema = z.object({
  /** Where the damaged journal is kept, relative to the warehouse folder. */
  folder: setAsidePath,
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
  snapshot_id: z.uuid(),
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
  await writeSealed(folder, folder.header, { ...header, journal_format: JOURNAL_FORMAT });
}

/**
 * Reads the run's header, or null if the run died before it wrote one: it had sent no request then.
 *
 * @throws JournalError if the header is damaged, of another journal or of another version
 */
export async function readHeader(folder: JournalFolder): Promise<RunHeader | null> {
  const header = await readSealed(folder, folder.header, headerSchema);
  if (header === null) return null;
  if (header === undefined) throw new JournalError(await damageOf(folder));
  if (header.run_id === folder.runId && header.website_id === folder.websiteId) return header;
  throw new JournalError(`${folder.header} belongs to another run or website`);
}

async function damageOf({ header }: JournalFolder): Promise<string> {
  const text = await readIfThere(header).catch(() => null);
  const { data: other } = z.object({ journal_format: z.int() }).safeParse(jsonOf(text ?? ''));
  if (!other || other.journal_format === JOURNAL_FORMAT) return `${header} is damaged`;
  return `${header} has journal format ${other.journal_format}; this version has ${JOURNAL_FORMAT}`;
}

/** When the run last wrote something, in milliseconds since 1970. */
export async function lastActivity(folder: JournalFolder): Promise<number> {
  const files = [folder.header, folder.search, folder.listing, folder.plan, folder.reports];
  const found = await Promise.all(files.map((file) => statIfThere(file).catch(() => null)));
  return Math.max(...found.map((file) => file?.mtimeMs ?? 0));
}
