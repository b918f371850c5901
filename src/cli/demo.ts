import { type Command, InvalidArgumentError } from 'commander';
import type { DemoResult } from '../demo/demo.js';
import type { LogLevel } from '../observe/log.js';
import { flagsOf, type Globals, newCommand, type Outcome, packageVersion } from './command.js';

const EXAMPLES = `
Examples:
  indexhouse demo
  indexhouse demo --nights 60 --pages 500 --folder /tmp/demo`;

interface Flags extends Globals {
  folder: string;
  pages: number;
  nights: number;
  seed: number;
}

/** `indexhouse demo`: two weeks of a simulated service, synced night by night, and first answers. */
export function demoCommand(_outcome: Outcome): Command {
  return newCommand('demo', 'try everything: a simulated service, two weeks of nightly syncs, first answers')
    .option('--folder <folder>', "where it goes; an earlier demo's folder is replaced", 'indexhouse-demo')
    .option('--pages <number>', 'pages of the site', between(10, 100_000), 3000)
    .option('--nights <number>', 'nights to sync', between(1, 400), 14)
    .option('--seed <number>', 'same seed, same world', between(0, 2 ** 31 - 1), 1)
    .addHelpText('after', EXAMPLES)
    .action(async (_: Flags, command: Command) => {
      const flags = flagsOf<Flags>(command);
      const result = await demo(flags);
      const { demoJson, demoText } = await import('./demo-output.js');
      process.stdout.write(flags.json ? await demoJson(result) : await demoText(result, flags));
    });
}

async function demo(flags: Flags): Promise<DemoResult> {
  const [{ resolve }, { runDemo }, { createLogger }, { createProgress }, { colorsWanted }, { stopSignal }] =
    await Promise.all([
      import('node:path'),
      import('../demo/demo.js'),
      import('../observe/log.js'),
      import('../observe/progress.js'),
      import('../observe/terminal.js'),
      import('./signals.js'),
    ]);
  const color = colorsWanted(process.stderr, process.env);
  const isTerminal = process.stderr.isTTY === true;
  const progress = createProgress({ stream: process.stderr, isTerminal, color, log: (line) => log.info(line) });
  const level: LogLevel = flags.logLevel ?? 'warn';
  const log = createLogger({ level, destination: progress.logStream, color });
  const { signal, release } = stopSignal();
  const { pages, nights, seed } = flags;
  const folder = resolve(flags.folder);
  try {
    return await runDemo({
      folder,
      pages,
      nights,
      seed,
      version: await packageVersion(),
      log,
      progress,
      signal,
      now: Date.now(),
    });
  } finally {
    release();
  }
}

function between(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}
