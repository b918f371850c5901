import { safe } from '../observe/terminal.js';
import { exitCodeOf, type Verified } from '../verify/finding.js';
import { verify } from '../verify/verify.js';
import { dropScratch, scratchFolder } from '../warehouse/layout.js';
import { RunLock } from '../warehouse/lock.js';
import { checkWarehouseThere } from '../warehouse/prepare.js';
import { configOf } from './configured.js';
import type { Io } from './io.js';
import { count, counted, formatJson } from './output.js';
import type { Globals } from './program.js';

const SIGN = { difference: '✗', lag: '!', note: '·' } as const;

export interface Flags extends Globals {
  repair?: boolean;
}

/** `indexhouse verify`: proves that nothing is lost and that everything that follows the log equals it. */
export async function run(flags: Flags, io: Io): Promise<number> {
  const verified = await verifyOnce(flags, io);
  io.stdout.write(flags.json ? formatJson(verified) : verifiedText(verified));
  return exitCodeOf(verified);
}

async function verifyOnce(flags: Flags, io: Io): Promise<Verified> {
  const { path: warehouse, memory_limit: memoryLimit } = (await configOf(flags, io, { withoutTokens: true })).warehouse;
  await checkWarehouseThere(warehouse);
  const repair = flags.repair === true;
  const options = { warehouse, memoryLimit, engine: { memoryLimit, temporary: scratchFolder(warehouse) }, repair };
  const lock = repair ? await RunLock.take(warehouse, 'verify --repair') : null;
  try {
    return await verify(options);
  } finally {
    lock?.release();
    await dropScratch(warehouse);
  }
}

function verifiedText({ snapshots, files, rows, findings, repaired }: Verified): string {
  const lines = findings.map(({ level, message, remedy }) => `${SIGN[level]} ${safe(message)}\n    ${safe(remedy)}\n`);
  const done = repaired.map((what) => `✓ ${safe(what)}\n`);
  const wrong = findings.filter(({ level }) => level !== 'note').length;
  const all = `${count(snapshots)} snapshots, ${count(files)} files, ${count(rows)} rows: `;
  const found = wrong === 0 ? 'no differences found' : `${counted(wrong, 'problem')} found`;
  return `${lines.join('')}${done.join('')}${all}${found}\n`;
}
