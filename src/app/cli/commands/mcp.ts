import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { readStatus } from '../../../answers/status/status.js';
import { packageVersion } from '../../../base/version.js';
import { wholeClient } from '../../../serve/assistant/clients.js';
import { assistantServer } from '../../../serve/assistant/server.js';
import { checkWarehouseThere } from '../../../warehouse/log/folder/prepare.js';
import { loggerOf, readingOf } from '../configured.js';
import { EXIT, type Io, type ReadFlags, stoppable } from '../io.js';

/** How long what was asked before the client closed its end may still be answered. */
const GRACE_MS = 5000;

/** `indexhouse mcp`: answers an AI assistant over stdin and stdout, until it closes stdin. */
export async function run(flags: ReadFlags, io: Io): Promise<number> {
  const options = await readingOf(flags, io);
  const { warehouse, status } = options;
  await checkWarehouseThere(warehouse);
  const logger = loggerOf(flags, io);
  const answering = new Set<Promise<unknown>>();
  const client = wholeClient({
    ...options,
    version: await packageVersion(),
    onUnreadable: (file, reason) => logger.error({ file, reason }, 'a file of the warehouse cannot be read'),
    status: () => readStatus({ ...status, now: Date.now() }),
  });
  const server = assistantServer(client, {
    onError: (error) => logger.error({ err: error }, 'a question could not be answered'),
    onCall: (answer) => void answering.add(answer.finally(() => answering.delete(answer))),
  });
  // The transport would drop what is unanswered at the end of stdin, so it does not get to see that end.
  const input = io.stdin.pipe(new PassThrough(), { end: false });
  try {
    await stoppable(io, async (signal) => {
      const gone = Promise.race([once(io.stdin, 'end', { signal }), once(io.stdin, 'close', { signal })]);
      await server.connect(new StdioServerTransport(input, io.stdout));
      logger.info({ warehouse }, 'answering on stdin and stdout');
      await gone.catch(() => null);
      // A call begins, and an answer is written, after what is under way now.
      await setImmediate();
      await Promise.race([
        Promise.all(answering),
        delay(GRACE_MS, undefined, { signal, ref: false }).catch(() => null),
      ]);
      await setImmediate();
    });
  } finally {
    io.stdin.unpipe(input).pause();
    await server.close();
    client.close();
  }
  return EXIT.done;
}
