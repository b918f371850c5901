import { resolve } from 'node:path';
import { UsageError } from '../../../base/exit.js';
import { counted, size } from '../../../base/observe/format.js';
import { safe } from '../../../base/observe/terminal.js';
import { backUp } from '../../../warehouse/upkeep/backup.js';
import { settingsFor } from '../configured.js';
import { EXIT, type Io, type ReadFlags } from '../io.js';
import { formatJson } from '../output/output.js';
import { checkOutside } from '../output/sink.js';

export interface Flags extends ReadFlags {
  keys?: boolean;
}

/** `indexhouse backup`: a copy of the warehouse, while it is in use. */
export async function run(flags: Flags, io: Io, [folder]: string[]): Promise<number> {
  if (folder === undefined) throw new UsageError('name the folder to copy to: indexhouse backup <folder>');
  const { path: warehouse } = (await settingsFor(flags, io)).warehouse;
  const target = resolve(io.cwd, folder);
  await checkOutside(warehouse, target);
  const receipt = await backUp(warehouse, target, { keys: flags.keys === true });
  const { files, bytes, unchanged } = receipt;
  const there = unchanged > 0 ? `; ${counted(unchanged, 'file was', 'files were')} there already` : '';
  const text = `Copied ${counted(files, 'file')} (${size(bytes)}) to ${safe(target)}${there}.\n`;
  io.stdout.write(flags.json ? formatJson(receipt) : text);
  return EXIT.done;
}
