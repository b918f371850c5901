import { rename } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { exists, makeFolder, sizeOf, syncPath } from '../../base/storage/durable.js';
import { encodeId } from '../../base/storage/names.js';
import { damagedFolder, type JournalFolder } from '../../warehouse/journal/folder.js';
import {
  JournalError,
  type RunHeader,
  readHeader,
  type SetAside,
  writeHeader,
} from '../../warehouse/journal/header.js';
import { readListing } from '../../warehouse/journal/listing.js';
import { checkPlan, readReports } from '../../warehouse/journal/plan.js';
import { readSearch } from './search.js';

export interface SetAsideInput {
  warehouse: string;
  /** Makes the header of the journal that takes its place. */
  newHeader(): RunHeader;
}

/**
 * Moves a damaged journal below `runs/damaged`; an empty one takes its place, so that the run starts over. A journal
 * that is intact, or merely cut off as a killed process leaves it, stays as it is.
 *
 * @returns what was set aside, or null
 * @throws the disk's error if it cannot be read, because that is not damage
 */
export async function setAsideIfDamaged(folder: JournalFolder, input: SetAsideInput): Promise<SetAside | null> {
  const damage = await damageOf(folder);
  if (damage === null) return null;
  const place = await freePlace(input.warehouse, folder);
  await makeFolder(dirname(place));
  await rename(folder.path, place);
  await syncPath(dirname(place));
  const setAside = {
    folder: relative(input.warehouse, place),
    damage: damage.replaceAll(join(folder.path, '/'), ''),
  };
  await writeHeader(folder, { ...input.newHeader(), set_aside: setAside });
  return setAside;
}

/** Says what happened, where the files are, and what to do with them. */
export function setAsideText({ folder, damage }: SetAside): string {
  return (
    `its journal was damaged (${damage}), so the run started over. The files are kept in ${folder}: check the ` +
    'disk; you may delete them'
  );
}

async function damageOf(folder: JournalFolder): Promise<string | null> {
  try {
    if ((await readHeader(folder)) === null) return `${folder.header} is missing`;
    const { kind } = await readListing(folder, 0);
    await readSearch(folder);
    await readReports(folder);
    // A plan and answers follow from a complete listing.
    const isBeyond = (await exists(folder.planned)) || (await sizeOf(folder.reports)) > 0;
    if (isBeyond && kind !== 'listed') return `${folder.listing} lacks its end`;
    await checkPlan(folder);
    return null;
  } catch (error) {
    if (error instanceof JournalError) return error.message;
    throw error;
  }
}

/** A folder that no earlier journal was set aside in. */
async function freePlace(warehouse: string, { runId, websiteId }: JournalFolder): Promise<string> {
  const first = join(damagedFolder(warehouse), runId, encodeId(websiteId));
  let place = first;
  for (let number = 2; await exists(place); number++) place = `${first}.${number}`;
  return place;
}
