import { cp, rename, rm, truncate } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { AppendFile, exists, makeFolder, sizeOf, syncFile, syncFolder } from '../storage/durable.js';
import { encodeId } from '../storage/names.js';
import { damagedFolder, type JournalFolder, journalFolder } from './folder.js';
import { JournalError, JournalFormatError, type RunHeader, readHeader, type SetAside, writeHeader } from './header.js';
import { scanListing } from './listing.js';
import { checkPlan } from './plan.js';
import { type ReportsScan, scanReports } from './reports.js';

/** Which parts of a journal are intact, and which are not. */
interface Examined {
  /** What is wrong, each with its file; empty if everything is intact. */
  damages: string[];
  /** Null if the header is missing or damaged. */
  header: RunHeader | null;
  /** Intact bytes of the listing; 0 in a journal of another format. */
  listingBytes: number;
  keepsPlan: boolean;
  /** Null if none can be taken. */
  reports: ReportsScan | null;
  /** Whether the fetching of reports is known to have ended. */
  keepsEnd: boolean;
}

export interface MendInput {
  warehouse: string;
  /** A folder of the warehouse for work in progress. */
  scratch: string;
  /** Makes a new header if it is damaged. */
  newHeader(): RunHeader;
}

/**
 * Sets a damaged journal aside below `runs/damaged`, and puts in its place what is provably intact: the windows of the
 * listing before the first damage, each intact answer to a report, and the plan if the listing that it was made for is
 * complete. A journal that is intact, or merely cut off as a killed process leaves it, stays as it is.
 *
 * @returns what was set aside, or null
 * @throws the disk's error if it cannot be read, because that is not damage
 */
export async function mendJournal(folder: JournalFolder, input: MendInput): Promise<SetAside | null> {
  const examined = await examine(folder);
  if (examined.damages.length === 0) return null;
  const repaired = journalFolder(input.scratch, folder.runId, folder.websiteId);
  await rm(repaired.path, { recursive: true, force: true });
  await makeFolder(repaired.path);
  const header = examined.header ?? input.newHeader();
  const place = await freePlace(input.warehouse, folder);
  const lost = [header.set_aside?.lost, ...examined.damages]
    .filter((each) => each !== undefined)
    .join('; ')
    .replaceAll(join(folder.path, '/'), '');
  const setAside = { folder: relative(input.warehouse, place), lost };
  await copyWhole(folder, repaired, examined);
  await writeHeader(repaired, { ...header, set_aside: setAside });
  await makeFolder(dirname(place));
  await rename(folder.path, place);
  await syncFolder(dirname(place));
  await rename(repaired.path, folder.path);
  await syncFolder(dirname(folder.path));
  return setAside;
}

/** Says where the files are and what to do with them. */
export function toldOf({ folder, lost }: SetAside): string {
  return (
    `its journal was damaged (${lost}); what was intact has been used. The files are kept in ${folder}: check the ` +
    'disk; you may delete them'
  );
}

async function examine(folder: JournalFolder): Promise<Examined> {
  const found: Examined = {
    damages: [],
    header: null,
    listingBytes: 0,
    keepsPlan: false,
    reports: null,
    keepsEnd: false,
  };
  try {
    found.header = await readHeader(folder);
    if (found.header === null) found.damages.push(`${folder.header} is missing`);
  } catch (error) {
    found.damages.push(damageIn(error));
    if (error instanceof JournalFormatError) return found;
  }
  const isListed = await examineListing(folder, found);
  await examineReports(folder, found);
  await examinePlan(folder, found, isListed);
  found.keepsEnd = found.keepsPlan && found.reports?.damage === null;
  return found;
}

/** @returns whether the listing has its end */
async function examineListing(folder: JournalFolder, found: Examined): Promise<boolean> {
  try {
    const { kind, bytes, damage } = await scanListing(folder, 0, 0);
    found.listingBytes = bytes;
    if (damage !== null) found.damages.push(damage);
    return kind === 'listed';
  } catch (error) {
    found.damages.push(damageIn(error));
    return false;
  }
}

async function examineReports(folder: JournalFolder, found: Examined): Promise<void> {
  try {
    found.reports = await scanReports(folder);
    if (found.reports.damage !== null) found.damages.push(found.reports.damage);
  } catch (error) {
    found.damages.push(damageIn(error));
  }
}

/** A plan and answers follow from a complete listing: without its end, what the plan was made for is gone. */
async function examinePlan(folder: JournalFolder, found: Examined, isListed: boolean): Promise<void> {
  const answers = found.reports && found.reports.bytes > 0;
  const isBeyond = answers || (await exists(folder.planned));
  if (isBeyond && !isListed) {
    if (found.damages.length === 0) found.damages.push(`${folder.listing} lacks its end`);
    return;
  }
  try {
    await checkPlan(folder);
    found.keepsPlan = true;
  } catch (error) {
    found.damages.push(damageIn(error));
  }
}

/** Throws anything else, such as the error of a disk that cannot be read: that is not damage. */
function damageIn(error: unknown): string {
  if (error instanceof JournalError) return error.message;
  throw error;
}

async function copyWhole(from: JournalFolder, to: JournalFolder, whole: Examined): Promise<void> {
  if (whole.listingBytes > 0) {
    await cp(from.listing, to.listing);
    await truncate(to.listing, whole.listingBytes);
    await syncFile(to.listing);
  }
  if (whole.keepsPlan) {
    for (const name of ['plan', 'planned'] as const) {
      if (!(await exists(from[name]))) continue;
      await cp(from[name], to[name]);
      await syncFile(to[name]);
    }
  }
  if (!whole.reports) return;
  if (!whole.keepsEnd) return copyAnswers(from, to);
  if ((await sizeOf(from.reports)) > 0) await cp(from.reports, to.reports);
}

/** Copies each page's answer once, without the line that ends the fetching. */
async function copyAnswers(from: JournalFolder, to: JournalFolder): Promise<void> {
  const file = new AppendFile(to.reports, 0);
  const seen = new Set<string>();
  try {
    await scanReports(from, async (line, url) => {
      if (seen.has(url)) return;
      seen.add(url);
      await file.append(`${line}\n`);
    });
  } finally {
    file.close();
  }
}

/** A folder that no earlier journal was set aside in. */
async function freePlace(warehouse: string, { runId, websiteId }: JournalFolder): Promise<string> {
  const first = join(damagedFolder(warehouse), runId, encodeId(websiteId));
  let place = first;
  for (let number = 2; await exists(place); number++) place = `${first}.${number}`;
  return place;
}
