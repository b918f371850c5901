import { resolve } from 'node:path';
import { runDemo } from '../demo/demo.js';
import { demoJson, demoText } from './demo-output.js';
import { EXIT, type Io, stoppable } from './io.js';
import type { Globals } from './program.js';
import { display } from './sync.js';
import { packageVersion } from './version.js';

export interface Flags extends Globals {
  folder: string;
  pages: number;
  nights: number;
  seed: number;
}

/** `indexhouse demo`: two weeks of a simulated service, synced night by night, and first answers. */
export async function run(flags: Flags, io: Io): Promise<number> {
  const { pages, nights, seed } = flags;
  const folder = resolve(io.cwd, flags.folder);
  const version = await packageVersion();
  const { log, progress } = display(flags.logLevel ?? 'warn', io);
  const result = await stoppable(io, (signal) =>
    runDemo({ folder, pages, nights, seed, version, log, progress, signal, now: Date.now() }),
  );
  io.stdout.write(flags.json ? demoJson(result) : await demoText(result, flags, io));
  return EXIT.done;
}
