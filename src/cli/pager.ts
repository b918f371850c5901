import { type SpawnOptions, spawn } from 'node:child_process';
import { cellsOf } from '../observe/terminal.js';
import { columnsOf, type Io } from './io.js';

/** As git starts it: leave at once what fits, pass colours on, keep the text on the screen. */
const LESS = 'FRX';
/** Where a shell could not start a command. */
const NOT_STARTED = new Set<number | null>([126, 127]);

/** Prints a text; one that is longer than the terminal goes through the pager that `PAGER` names, or `less`. */
export async function printPaged(text: string, io: Io, wanted: boolean): Promise<void> {
  if (wanted && !fits(text, io) && (await page(text, io))) return;
  io.stdout.write(text);
}

/** Whether it fits a terminal, or goes to none. */
function fits(text: string, { stdout, env }: Io): boolean {
  const { isTTY, rows } = stdout;
  if (!isTTY || !rows || env['TERM'] === 'dumb') return true;
  const lines = text.split('\n');
  // The prompt that follows takes one.
  if (lines.length > rows) return false;
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(cellsOf(line) / columnsOf(stdout))), 0) <= rows;
}

/** False where there is no pager to be had. Whoever leaves it early has seen enough: that is no error. */
async function page(text: string, { env }: Io): Promise<boolean> {
  const { PAGER: command } = env;
  if (command === '' || command?.trim() === 'cat') return false;
  const options: SpawnOptions = { env: { LESS, LV: '-c', ...env }, stdio: ['pipe', 'inherit', 'inherit'] };
  const pager = command === undefined ? spawn('less', options) : spawn(command, { ...options, shell: true });
  // Ctrl-C is for the pager alone, which shares the terminal.
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
