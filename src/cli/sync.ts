import type { Config } from '../config/schema.js';
import { createLogger, type LogLevel } from '../observe/log.js';
import { createProgress, type Progress } from '../observe/progress.js';
import { colorsWanted } from '../observe/terminal.js';
import { exitCodeOf, type Receipt } from '../run/receipt.js';
import { sync } from '../run/sync.js';
import { configOf, secretsOf, websiteIds } from './configured.js';
import { type Io, stoppable, widthOf } from './io.js';
import { formatJson } from './output.js';
import type { RunFlags } from './plan.js';
import { syncSummary } from './sync-output.js';
import { packageVersion } from './version.js';

export interface Flags extends RunFlags {
  recover?: boolean;
  dryRun?: boolean;
}

/** `indexhouse sync`: one run now. */
export async function run({ dryRun, ...flags }: Flags, io: Io): Promise<number> {
  if (dryRun) return (await import('./plan.js')).run(flags, io);
  const config = await configOf(flags, io, {
    overrides: { reports: { max_per_run: flags.maxReports, deadline: flags.deadline } },
  });
  const receipt = await syncOnce(config, flags, io);
  io.stdout.write(
    flags.json ? formatJson(receipt) : syncSummary(receipt, namesOf(config.websites), widthOf(io.stdout)),
  );
  return exitCodeOf(receipt, config.quality.max_reject_ratio);
}

async function syncOnce(config: Config, flags: Flags, io: Io): Promise<Receipt> {
  const websites = websiteIds(flags.website ?? [], config.websites);
  const { log, progress } = display(flags.logLevel ?? 'info', io, secretsOf(config));
  const version = await packageVersion();
  return stoppable(io, (signal) =>
    sync({ config, version, websites, recoverOnly: flags.recover ?? false, log, progress, signal }),
  );
}

/** Logs and a progress line on stderr, which keep out of each other's way. */
export function display(level: LogLevel, { stderr, env }: Io, secrets: string[] = []) {
  const color = colorsWanted(stderr, env);
  const progress: Progress = createProgress({
    stream: stderr,
    isTerminal: stderr.isTTY === true,
    color,
    log: (line) => log.info(line),
  });
  const log = createLogger({ level, destination: progress.logStream, color, secrets });
  return { log, progress };
}

function namesOf(configured: Config['websites']): (id: string) => string {
  const names = new Map(configured === 'all' ? [] : configured.map(({ id, name }) => [id, name] as const));
  return (id) => names.get(id) ?? id;
}
