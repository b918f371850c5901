import type { Command } from 'commander';
import type { Verified } from '../verify/finding.js';
import { configOf, flagsOf, type Globals, newCommand, type Outcome } from './command.js';

const HELP = `
Reads every marked file, so it takes as long as reading the warehouse does. A running sync does not disturb it.

Exit codes: 0 everything is as it should be; 1 a difference; 3 something only lags.

Examples:
  indexhouse verify
  indexhouse verify --repair      also mends what is provably safe to mend: state, indexhouse.duckdb, orphaned files`;

interface Flags extends Globals {
  repair?: boolean;
}

/** `indexhouse verify`: proves that nothing is lost and that everything that follows the log equals it. */
export function verifyCommand(outcome: Outcome): Command {
  return newCommand(
    'verify',
    'prove that nothing is lost: files, counts, keys, state, and indexhouse.duckdb row for row',
  )
    .option('--repair', 'mend what is provably safe to mend')
    .addHelpText('after', HELP)
    .action(async (_: Flags, command: Command) => {
      const flags = flagsOf<Flags>(command);
      const [{ exitCodeOf }, { formatJson }] = await Promise.all([
        import('../verify/finding.js'),
        import('./output.js'),
      ]);
      const verified = await verifyOnce(flags);
      process.stdout.write(flags.json ? `${formatJson(verified)}\n` : await verifiedText(verified));
      outcome.exitCode = exitCodeOf(verified);
    });
}

async function verifyOnce(flags: Flags): Promise<Verified> {
  const [{ verify }, { RunLock }, { checkWarehouseThere }, { scratchFolder, dropScratch }] = await Promise.all([
    import('../verify/verify.js'),
    import('../run/lock.js'),
    import('../warehouse/prepare.js'),
    import('../warehouse/layout.js'),
  ]);
  const { path: warehouse, memory_limit: memoryLimit } = (await configOf(flags, { withoutTokens: true })).warehouse;
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

const SIGN = { difference: '✗', lag: '!', note: '·' } as const;

async function verifiedText({ snapshots, files, rows, findings, repaired }: Verified): Promise<string> {
  const [{ count }, { safe }] = await Promise.all([import('./output.js'), import('../observe/terminal.js')]);
  const lines = findings.map(({ level, message, remedy }) => `${SIGN[level]} ${safe(message)}\n    ${safe(remedy)}\n`);
  const mended = repaired.map((what) => `✓ ${safe(what)}\n`);
  const wrong = findings.filter(({ level }) => level !== 'note').length;
  const all = `${count(snapshots)} snapshots, ${count(files)} files, ${count(rows)} rows: `;
  return `${lines.join('')}${mended.join('')}${all}${wrong === 0 ? 'everything is there, once' : `${count(wrong)} to look at`}\n`;
}
