import { readdir } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import type { z } from 'zod';
import { readIfThere, sizeOf, writeDurably } from '../../base/storage/durable.js';
import { whyNotFile } from '../../base/storage/only-files.js';
import { jsonOf } from '../../base/validate.js';
import type { JournalFolder } from './folder.js';

/** What a sealed text ends with. Inside a JSON text its quotes would be escaped, so no record can end like this. */
const SEAL = /,"crc":"([0-9a-f]{8})"\}$/;
const SEAL_LENGTH = ',"crc":"00000000"}'.length;

/** No small file of a journal comes near it. */
const MOST_BYTES = 16 * 1024 * 1024;

/** Specific to one website's part of one run, so that a line of another journal counts as damaged. */
export function seedOf({ runId, websiteId }: JournalFolder): number {
  return crc32(`${runId}/${websiteId}`);
}

/**
 * Adds a checksum to the JSON text of an object, so that a flipped bit in the middle of a value is noticed, too. Text
 * with a valid seal is as it was written, and everything that is written can be staged.
 *
 * @param crc of what comes before it, or the journal's seed
 */
export function seal(text: string, crc: number): { text: string; crc: number } {
  const own = crc32(text, crc);
  return { text: `${text.slice(0, -1)},"crc":"${own.toString(16).padStart(8, '0')}"}`, crc: own };
}

export interface Opened {
  isWhole: boolean;
  /** Checksum of this text and all that its seal covers. */
  crc: number;
}

/** Checks a text against its seal. */
export function openSeal(text: string, crc: number): Opened {
  const sealed = SEAL.exec(text);
  if (!sealed) return { isWhole: false, crc };
  const own = crc32(`${text.slice(0, -SEAL_LENGTH)}}`, crc);
  return { isWhole: Number.parseInt(sealed[1] ?? '', 16) === own, crc: own };
}

/** The checksum including a line that has no seal of its own, because the seal of a later one covers it. */
export function passOver(text: string, crc: number): number {
  return crc32(`${text}\n`, crc);
}

/** Writes an object to a small file of a journal, whole or not at all. */
export function writeSealed(folder: JournalFolder, file: string, value: object): Promise<void> {
  return writeDurably(file, `${seal(JSON.stringify(value), seedOf(folder)).text}\n`);
}

/** @returns what `writeSealed` wrote; null if the file is missing, undefined if it is damaged */
export async function readSealed<T>(
  folder: JournalFolder,
  file: string,
  schema: z.ZodType<T>,
): Promise<T | null | undefined> {
  if (whyNotFile(file) !== null || (await sizeOf(file)) > MOST_BYTES || (await hasForeign(folder))) return undefined;
  const text = await readIfThere(file);
  if (text === null) return null;
  return openSeal(text.trimEnd(), seedOf(folder)).isWhole ? schema.safeParse(jsonOf(text)).data : undefined;
}

/** Whether a journal contains a link, a pipe or the like, which no run makes: none of its files is opened then. */
async function hasForeign({ path, staged }: JournalFolder): Promise<boolean> {
  const found = [path, staged].map((folder) => readdir(folder, { withFileTypes: true }).catch(() => []));
  return (await Promise.all(found)).flat().some((entry) => !entry.isFile() && !entry.isDirectory());
}
