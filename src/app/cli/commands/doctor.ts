import { colorsWanted, safe } from '../../../base/observe/terminal.js';
import { type CheckResult, TRY_LATER } from '../../doctor/check-result.js';
import { examine } from '../../doctor/examine.js';
import { ACCESS_STEPS } from '../../doctor/search-console.js';
import { configOf } from '../configured.js';
import { EXIT, type Globals, type Io, stoppable } from '../io.js';
import { formatJson } from '../output/output.js';

const SIGN: Record<CheckResult['level'], string> = { ok: '✓', warning: '!', error: '✗' };
const COLOR: Record<CheckResult['level'], number> = { ok: 32, warning: 33, error: 31 };

/** `indexhouse doctor`: checks everything that a sync needs. */
export async function run(flags: Globals, io: Io): Promise<number> {
  const { findings, configured } = await stoppable(io, (signal) => examine(() => configOf(flags, io), signal));
  io.stdout.write(flags.json ? formatJson(findings) : printed(findings, colorsWanted(io.stdout, io.env)));
  const lacksAccess = findings.some(
    ({ check, level, remedy }) => level === 'error' && ['account', 'property'].includes(check) && remedy !== TRY_LATER,
  );
  if (lacksAccess && !flags.json) io.stdout.write(`\n${ACCESS_STEPS}\n`);
  if (!configured) return EXIT.usage;
  return findings.some(({ level }) => level === 'error') ? EXIT.failed : EXIT.done;
}

function printed(findings: readonly CheckResult[], color: boolean): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  const lines = findings.flatMap(({ check, level, message, remedy }) => {
    const sign = color ? `\x1b[${COLOR[level]}m${SIGN[level]}\x1b[39m` : SIGN[level];
    const first = `${sign} ${check.padEnd(width)}  ${safe(message)}`;
    return remedy ? [first, `${' '.repeat(width + 4)}→ ${safe(remedy)}`] : [first];
  });
  return `${lines.join('\n')}\n`;
}
