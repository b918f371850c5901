import type { Config } from '../config/schema.js';
import { createLogger, type LogLevel } from '../observe/log.js';
import { createProgress } from '../observe/progress.js';
import { colorsWanted } from '../observe/terminal.js';
import type { Receipt } from '../run/receipt.js';
import { sync } from '../run/sync.js';
import { secretsOf } from './command.js';
import { stopSignal } from './signals.js';

/** Runs one sync as a command does: logs and a progress line on stderr, stopped by SIGINT and SIGTERM. */
export async function runSync(
  config: Config,
  options: { version: string; logLevel: LogLevel; websites: string[]; recoverOnly: boolean },
): Promise<Receipt> {
  const color = colorsWanted(process.stderr, process.env);
  const isTerminal = process.stderr.isTTY === true;
  const progress = createProgress({ stream: process.stderr, isTerminal, color, log: (line) => log.info(line) });
  const log = createLogger({
    level: options.logLevel,
    destination: progress.logStream,
    color,
    secrets: secretsOf(config),
  });
  const { signal, release } = stopSignal();
  try {
    return await sync({ config, ...options, log, progress, signal });
  } finally {
    release();
  }
}
