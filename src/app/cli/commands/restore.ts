import { STATUS_DEFAULTS } from '../../../answers/status/status-input.js';
import { bucketUrl } from '../../../base/config/schema.js';
import { Failure, UsageError } from '../../../base/exit.js';
import { counted, size } from '../../../base/observe/format.js';
import { safe, safeLines } from '../../../base/observe/terminal.js';
import { exists } from '../../../base/storage/durable.js';
import { restoreInto } from '../../../warehouse/bucket/restore.js';
import { warehouseFolder } from '../../../warehouse/log/folder/layout.js';
import { checkPath } from '../../../warehouse/log/folder/prepare.js';
import { configOf, flagValue, folderOf } from '../configured.js';
import { EXIT, type Globals, type Io } from '../io.js';
import { formatJson } from '../output/output.js';

const REPAIR = '`indexhouse verify --repair` and then `sync` in the folder that owns the bucket send them again';

export interface Flags extends Globals {
  from?: string;
  ifMissing?: boolean;
  takeOver?: boolean;
  warehouse?: string;
}

/** `indexhouse restore`: restores a warehouse from the bucket that holds its copy. */
export async function run(flags: Flags, io: Io): Promise<number> {
  const { url, warehouse, memoryLimit } = await placesOf(flags, io);
  checkPath('the warehouse', warehouse);
  if (flags.takeOver && (flags.from !== undefined || flags.warehouse !== undefined))
    throw new UsageError('--take-over is for the configured warehouse and bucket: leave out --from and --warehouse');
  const { identity, incoming } = warehouseFolder(warehouse);
  const isThere = (await exists(identity)) && !(await exists(incoming));
  if (isThere && flags.ifMissing) {
    io.stdout.write(flags.json ? formatJson({ warehouse, restored: false }) : `${safe(warehouse)} is there already.\n`);
    return EXIT.done;
  }
  if (isThere && !flags.takeOver) {
    throw new UsageError(`${warehouse} is there already and was not changed: name another folder, or use --if-missing`);
  }
  const { takeOver: isTakenOver = false } = flags;
  const fetched = await restoreInto(url, { warehouse, memoryLimit, isTakenOver, env: io.env });
  if (fetched === null) return nothingThere(url, flags, io);
  const { set_aside: folder, damaged } = fetched;
  const aside = folder ? ` What only this folder had is in ${safe(folder)} there: keep or delete it.` : '';
  const text = `Restored ${safe(warehouse)} from ${url}: ${counted(fetched.files, 'file')} (${size(fetched.bytes)}).${aside}\n`;
  io.stdout.write(flags.json ? formatJson({ warehouse, restored: true, ...fetched }) : text);
  if (damaged.length === 0) return EXIT.done;
  const more = damaged.length > 1 ? ` and ${counted(damaged.length - 1, 'other object')}` : '';
  const reason = `damaged or missing: ${url}/${damaged[0]}${more}; ${REPAIR}`;
  io.stderr.write(`${safeLines(`indexhouse: ${reason}`)}\n`);
  return EXIT.warnings;
}

/** An empty bucket is a failure, unless `--if-missing` allows it, as for the first machine ever. */
function nothingThere(url: string, { ifMissing, json }: Flags, { stdout }: Io): number {
  if (!ifMissing) throw new Failure(`there is no warehouse at ${url}: check the address and its prefix`);
  stdout.write(json ? formatJson({ restored: false }) : `There is no warehouse at ${url} yet: nothing to restore.\n`);
  return EXIT.done;
}

/** With both flags no configuration is needed. */
async function placesOf({ from, warehouse, ...flags }: Flags, io: Io) {
  const named = from === undefined ? undefined : flagValue(bucketUrl(), '--from', from);
  if (named !== undefined && warehouse !== undefined) {
    return { url: named, warehouse: folderOf(warehouse, io), memoryLimit: STATUS_DEFAULTS.memoryLimit };
  }
  const configured = await configOf(flags, io, { withoutTokens: true });
  const url = named ?? configured.bucket;
  if (url === undefined)
    throw new UsageError('name the bucket: --from s3://name/prefix, or `bucket` in the configuration');
  const { path, memory_limit: memoryLimit } = configured.warehouse;
  return { url, warehouse: warehouse === undefined ? path : folderOf(warehouse, io), memoryLimit };
}
