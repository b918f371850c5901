import { resolve } from 'node:path';
import { UsageError } from '../exit.js';
import { backUp } from '../maintain/backup.js';
import { size } from '../observe/format.js';
import { safe } from '../observe/terminal.js';
import type { Globals } from './command.js';
import { readerOptions } from './configured.js';
import { EXIT, type Io } from './io.js';
import { count, formatJson } from './output.js';
import { checkOutside } from './sink.js';

export interface Flags extends Globals {
  warehouse?: string;
  keys?: boolean;
}

/** `indexhouse backup`: a copy of the warehouse, while it is in use. */
export async function run(flags: Flags, io: Io, [folder]: string[]): Promise<number> {
  if (folder === undefined) throw new UsageError('name the folder to copy to: indexhouse backup <folder>');
  const { warehouse } = await readerOptions(flags, io);
  const target = resolve(io.cwd, folder);
  await checkOutside(warehouse, target);
  const receipt = await backUp(warehouse, target, { keys: flags.keys === true });
  const { files, bytes, unchanged } = receipt;
  const text = `Copied ${count(files)} files (${size(bytes)}) to ${safe(target)}; ${count(unchanged)} were there already.\n`;
  io.stdout.write(flags.json ? formatJson(receipt) : text);
  return EXIT.done;
}
