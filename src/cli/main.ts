import { EXIT, processIo } from './io.js';
import { runCli } from './program.js';

// A reader that closes early (`| head`) has seen enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT.done);
  throw error;
});
process.exitCode = await runCli(process.argv.slice(2), processIo());
