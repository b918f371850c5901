import { Command } from 'commander';
import { analyticsCommand } from './analytics.js';
import { type Outcome, withGlobals } from './command.js';
import { demoCommand } from './demo.js';
import { doctorCommand } from './doctor.js';
import { initCommand } from './init.js';
import { keysCommand } from './keys.js';
import { maintainCommand } from './maintain.js';
import { planCommand } from './plan.js';
import { queryCommand } from './query.js';
import { rebuildCommand } from './rebuild.js';
import { replayCommand } from './replay.js';
import { reportCommand } from './report.js';
import { scheduleCommand } from './schedule.js';
import { serveCommand } from './serve.js';
import { simulateCommand } from './simulate.js';
import { statusCommand } from './status.js';
import { syncCommand } from './sync.js';
import { verifyCommand } from './verify.js';

const HELP = `
Exit codes: 0 done; 1 failed; 2 usage or configuration; 3 done, but look; 4 another process holds the run lock.

Begin with:
  indexhouse demo        try everything against a simulated service
  indexhouse init        write a configuration`;

/** The whole command line. Commands leave their exit code in `outcome`, and throw what went wrong. */
export function buildProgram(version: string, outcome: Outcome): Command {
  const program = withGlobals(new Command('indexhouse'))
    .description('a warehouse of how a search engine indexes your pages')
    .version(version, '-V, --version')
    .addHelpText('after', HELP)
    .exitOverride();
  const commands = [
    initCommand(),
    doctorCommand(outcome),
    planCommand(outcome),
    syncCommand(outcome),
    scheduleCommand(outcome),
    statusCommand(outcome),
    queryCommand(outcome),
    reportCommand(outcome),
    analyticsCommand(),
    verifyCommand(outcome),
    rebuildCommand(outcome),
    replayCommand(outcome),
    maintainCommand(outcome),
    serveCommand(outcome),
    keysCommand(),
    simulateCommand(),
    demoCommand(outcome),
  ];
  for (const command of commands) program.addCommand(command.exitOverride());
  return program;
}
