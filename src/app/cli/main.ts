import { EXIT, processIo } from './io.js';
import { runCli } from './program.js';

// A reader that closes early, such as `head`, has seen enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT.done);
  process.stderr.write(`indexhouse: cannot write to stdout: ${error.message}\n`);
  process.exit(EXIT.failed);
});
// Nobody reads the log, or its disk is full, which is no reason to lose a run.
process.stderr.on('error', () => {});
process.exitCode = await runCli(process.argv.slice(2), processIo());
