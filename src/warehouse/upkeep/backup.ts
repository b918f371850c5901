import { readdir } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { Failure } from '../../base/exit.js';
import { exists, ifThere, makeFolder, publishFile, sha256Of, sizeOf } from '../../base/storage/durable.js';
import { checkWithin, copyFresh } from '../../base/storage/only-files.js';
import { type LogFolder, listTableFiles, warehouseFolder } from '../log/folder/layout.js';
import { checkWarehouseThere } from '../log/folder/prepare.js';
import { DATA_TABLES } from '../log/folder/tables.js';

/** What makes commits visible. Listed before the data, so that everything visible in the copy has its data there. */
const LOG_FOLDERS: readonly LogFolder[] = ['tombstones', 'snapshots', 'runs', 'note_log'];

export interface BackupReceipt {
  folder: string;
  /** Copied by this backup. */
  files: number;
  bytes: number;
  /** Already there from an earlier backup. */
  unchanged: number;
  /** Files that retention deleted during the backup; the copy does not need them. */
  gone: number;
}

/**
 * Copies everything in a warehouse that cannot be derived, and the states, which take long to derive, while it is in
 * use. If this is killed at any moment, the copy holds an earlier state of the warehouse, or none yet; the next backup
 * completes it.
 *
 * @param keys whether the keys of `serve` are copied, too
 * @throws WarehouseError if there is no warehouse; Failure if the copy holds a commit that was removed
 */
export async function backUp(warehouse: string, folder: string, { keys = false } = {}): Promise<BackupReceipt> {
  await checkWarehouseThere(warehouse);
  const receipt: BackupReceipt = { folder, files: 0, bytes: 0, unchanged: 0, gone: 0 };
  const logFiles = await filesOf(warehouse, LOG_FOLDERS);
  const there = new Set(logFiles.map((file) => relative(warehouse, file)));
  const gone = (await filesOf(folder, ['snapshots'])).find((file) => !there.has(relative(folder, file)));
  if (gone) throw new Failure(`${gone} is no longer in the warehouse: back up to a new folder, and run verify here`);
  const data = await filesOf(warehouse, ['checkpoints', ...DATA_TABLES]);
  const { identity, keys: keyFile, notices } = warehouseFolder(warehouse);
  const sent = (await exists(notices)) ? [notices] : [];
  // These change: with a newer version, with the keys, or when notices are sent.
  const changing = [identity, ...(await filesBelow(join(warehouse, 'schema'))), ...sent, ...(keys ? [keyFile] : [])];
  const committed = [...data, ...(await filesBelow(join(warehouse, 'state'))), ...logFiles];
  const copyAll = async (files: readonly string[], isSame: typeof isSameSize) => {
    for (const file of files) {
      const to = join(folder, relative(warehouse, file));
      if (await isSame(file, to)) receipt.unchanged++;
      else await copy(file, to, receipt);
    }
  };
  await copyAll(committed, isSameSize);
  await copyAll(changing, isSameContent);
  return receipt;
}

async function filesOf(warehouse: string, tables: readonly LogFolder[]): Promise<string[]> {
  const files: string[] = [];
  for (const table of tables) files.push(...(await listTableFiles(warehouse, table)));
  return files;
}

/** Links are none: what they name may be anywhere. */
async function filesBelow(folder: string): Promise<string[]> {
  const files: string[] = [];
  for (const entry of await ifThere(readdir(folder, { withFileTypes: true }), [])) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) files.push(...(await filesBelow(path)));
    else if (entry.isFile() && !entry.name.endsWith('.tmp')) files.push(path);
  }
  return files;
}

/** Enough to compare, because these files never change. */
async function isSameSize(from: string, to: string): Promise<boolean> {
  const size = await sizeOf(to);
  return size > 0 && size === (await sizeOf(from));
}

async function isSameContent(from: string, to: string): Promise<boolean> {
  return (await isSameSize(from, to)) && (await sha256Of(from)) === (await sha256Of(to));
}

async function copy(from: string, to: string, receipt: BackupReceipt): Promise<void> {
  checkWithin(receipt.folder, to);
  await makeFolder(dirname(to));
  const temporary = `${to}.tmp`;
  if ((await ifThere(copyFresh(from, temporary), 'gone')) === 'gone') {
    receipt.gone++;
    return;
  }
  await publishFile(temporary, to);
  receipt.files++;
  receipt.bytes += await sizeOf(to);
}
