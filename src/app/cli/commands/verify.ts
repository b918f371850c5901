import { counted } from '../../../base/observe/format.js';
import { safe } from '../../../base/observe/terminal.js';
import { exists } from '../../../base/storage/durable.js';
import { checkOwnership } from '../../../warehouse/bucket/owner.js';
import { followersOf } from '../../../warehouse/copies/follow.js';
import { warehouseFolder } from '../../../warehouse/log/folder/layout.js';
import { type Verified, verifyExitCode } from '../../../warehouse/upkeep/verify/finding.js';
import { verifyWarehouse } from '../../../warehouse/upkeep/verify/verify.js';
import { configOf, loggerOf, readingOf } from '../configured.js';
import type { Io, ReadFlags } from '../io.js';
import { formatJson } from '../output/output.js';

const SIGN = { difference: '✗', lag: '!', note: '·' } as const;

export interface Flags extends ReadFlags {
  repair?: boolean;
}

/** `indexhouse verify`: proves that nothing is lost and that every follower equals the log. */
export async function run(flags: Flags, io: Io): Promise<number> {
  const place = await readingOf(flags, io);
  const { warehouse } = place;
  // A copy of the Parquet files has no followers.
  const isCopy = !(await exists(warehouseFolder(warehouse).database));
  const config = flags.warehouse === undefined ? await configOf(flags, io, { withoutTokens: true }) : null;
  if (config && flags.repair) await checkOwnership({ config, warehouse, logger: loggerOf(flags, io, config) });
  const followers = config ? followersOf(config) : isCopy ? [] : undefined;
  const verified = await verifyWarehouse({ ...place, followers }, flags.repair === true);
  io.stdout.write(flags.json ? formatJson(verified) : verifiedText(verified));
  return verifyExitCode(verified);
}

function verifiedText({ snapshots, files, rows, findings, repaired }: Verified): string {
  const lines = findings.map(({ level, message, remedy }) => `${SIGN[level]} ${safe(message)}\n    ${safe(remedy)}\n`);
  const done = repaired.map((what) => `✓ ${safe(what)}\n`);
  const wrong = findings.filter(({ level }) => level !== 'note').length;
  const all = Object.entries({ snapshot: snapshots, file: files, row: rows })
    .flatMap(([one, number]) => (number > 0 ? [counted(number, one)] : []))
    .join(', ');
  const found = wrong === 0 ? 'no differences found' : `${counted(wrong, 'problem')} found`;
  return `${lines.join('')}${done.join('')}${all || 'No snapshots'}: ${found}\n`;
}
