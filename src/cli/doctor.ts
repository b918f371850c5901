import type { Command } from 'commander';
import type { Finding } from '../doctor/finding.js';
import { configOf, EXIT, flagsOf, type Globals, newCommand, type Outcome } from './command.js';
import { stopSignal } from './signals.js';

const EXAMPLES = `
Examples:
  indexhouse doctor                  check everything; one request for the key, one for each website
  indexhouse doctor --json           the findings as an array of {check, level, message, remedy}`;

const SIGN: Record<Finding['level'], string> = { ok: '✓', warning: '!', error: '✗' };
const COLOR: Record<Finding['level'], number> = { ok: 32, warning: 33, error: 31 };

/** `indexhouse doctor`: checks everything that a sync needs. */
export function doctorCommand(outcome: Outcome): Command {
  return newCommand('doctor', 'check config, token, access to each website, folder, locks, disk and clock')
    .addHelpText('after', EXAMPLES)
    .action(async (_: Globals, command: Command) => {
      outcome.exitCode = await examineAll(flagsOf<Globals>(command));
    });
}

async function examineAll(flags: Globals): Promise<number> {
  const [{ examine }, { formatJson }] = await Promise.all([import('../doctor/examine.js'), import('./output.js')]);
  const { signal, release } = stopSignal();
  try {
    const { findings, configured } = await examine(() => configOf(flags), signal);
    process.stdout.write(flags.json ? formatJson(findings) : await printed(findings));
    if (!configured) return EXIT.usage;
    return findings.some(({ level }) => level === 'error') ? EXIT.failed : EXIT.done;
  } finally {
    release();
  }
}

async function printed(findings: readonly Finding[]): Promise<string> {
  const { colorsWanted, safe } = await import('../observe/terminal.js');
  const color = colorsWanted(process.stdout, process.env);
  const width = Math.max(...findings.map(({ check }) => check.length));
  const lines = findings.flatMap(({ check, level, message, remedy }) => {
    const sign = color ? `\x1b[${COLOR[level]}m${SIGN[level]}\x1b[39m` : SIGN[level];
    const first = `${sign} ${check.padEnd(width)}  ${safe(message)}`;
    return remedy ? [first, `${' '.repeat(width + 4)}→ ${safe(remedy)}`] : [first];
  });
  return `${lines.join('\n')}\n`;
}
