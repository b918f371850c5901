import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { EXIT } from '../../src/base/exit.js';
import { packageFolder } from '../../src/base/storage/sql.js';
import { runProcess, start } from '../given/cli.js';
import { startSimulator } from '../given/client-clock.js';
import { temporaryFolder } from '../given/folder.js';

const README = readFileSync(join(packageFolder(), 'README.md'), 'utf8');
const RUNS_UNTIL_STOPPED = new Set(['schedule', 'serve', 'simulate']);

/** The commands of the README's shell blocks, in order, each split as a shell does. */
function commandsOf(text: string): string[][] {
  const blocks = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block ?? '');
  return blocks.flatMap((block) =>
    [...block.matchAll(/^node \. (.*?)(?: {2,}#.*| > .*)?$/gm)].map(([, line]) => splitWords(line ?? '')),
  );
}

function splitWords(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');
}

test('every command of the README runs, one after the other, as it stands there', async () => {
  const simulator = await startSimulator({ websites: [{ id: 'w', pages: 60 }] });
  const cwd = temporaryFolder();
  const env = {
    INDEXHOUSE_TOKEN: 'demo-token',
    INDEXHOUSE_API_BASE_URL: simulator.url,
    INDEXHOUSE_API_REQUESTS_PER_MINUTE: 'unlimited',
    INDEXHOUSE_WAREHOUSE_MIN_FREE_DISK: '1MB',
    INDEXHOUSE_SERVICE_PORT: '0',
  };
  const commands = commandsOf(README);
  expect(commands.length).toBeGreaterThan(8);
  for (const words of commands) {
    const serves = words.includes('--serve');
    if (serves || RUNS_UNTIL_STOPPED.has(words[0] ?? '')) {
      const running = start(words, { cwd, env });
      await running.spoken;
      // The demo says more before it serves.
      if (serves) await vi.waitFor(() => expect(running.printed()).toContain('Stop with'), { timeout: 60_000 });
      running.kill('SIGTERM');
      expect([words, await running.ended]).toMatchObject([words, { code: 0 }]);
    } else {
      // The website to remove is an example, which no warehouse knows.
      const code = words[0] === 'remove' ? EXIT.usage : EXIT.done;
      expect([words, await runProcess(words, { cwd, env })]).toMatchObject([words, { code }]);
    }
  }
});
