import { type SpawnOptions, spawn } from 'node:child_process';
import { cellsOf } from '../observe/terminal.js';
import { columnsOf, type Io } from './io.js';

/** The flags that git uses: exit at once if the text fits, pass colours through, keep the text on the screen. */
const LESS = 'FRX';
/** Exit codes of a shell that could not start a command. */
const NOT_STARTED = new Set<number | null>([126, 127]);

/** Prints a text. One that is longer than the terminal goes through the pager that `PAGER` names, or `less`. */
export async function printPaged(text: string, io: Io, wanted: boolean): Promise<void> {
  if (wanted && !fits(text, io) && (await page(text, io))) return;
  io.stdout.write(text);
}

/** Whether a text fits the terminal, or does not go to one. */
function fits(text: string, { stdout, env }: Io): boolean {
  const { isTTY, rows } = stdout;
  if (!isTTY || !rows || env['TERM'] === 'dumb') return true;
  const lines = text.split('\n');
  // The prompt that follows needs a line, too.
  if (lines.length > rows) return false;
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(cellsOf(line) / columnsOf(stdout))), 0) <= rows;
}

/** False if no pager could be started. It is no error to leave the pager early. */
async function page(text: string, { env }: Io): Promise<boolean> {
  const { PAGER: command } = env;
  if (command === '' || command?.trim() === 'cat') return false;
  const options: SpawnOptions = { env: { LESS, LV: '-c', ...env }, stdio: ['pipe', 'inherit', 'inherit'] };
  const pager = command === undefined ? spawn('less', options) : spawn(command, { ...options, shell: true });
  // Ctrl-C is only for the pager, which shares the terminal.
  const ignore = () => {};
  process.on('SIGINT', ignore);
  try {
    return await new Promise((resolve) => {
      pager.on('error', () => resolve(false));
      pager.on('close', (code) => resolve(!NOT_STARTED.has(code)));
      pager.stdin?.on('error', ignore);
      pager.stdin?.end(text);
    });
  } finally {
    process.off('SIGINT', ignore);
  }
}
