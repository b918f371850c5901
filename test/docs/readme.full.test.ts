import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { packageFolder } from '../../src/base/storage/sql.js';
import { runProcess, start } from '../given/cli.js';
import { startSimulator } from '../given/client-clock.js';
import { atEnd, temporaryFolder } from '../given/folder.js';

const README = readFileSync(join(packageFolder(), 'README.md'), 'utf8');
/** What the demo has still to do once it has printed something, on a busy machine. */
const DEMO_MS = 5 * 60_000;
const RUNS_UNTIL_STOPPED = new Set(['schedule', 'serve', 'simulate']);
const googleSchema = z.object({ endpoint: z.string(), client: z.string() });

/** The commands of a part's shell blocks, in order, each split as a shell does. */
function commandsOf(part: string): string[][] {
  const blocks = [...part.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block).join('\n');
  const lines = [...blocks.matchAll(/^node \. (.*?)(?: {2,}#.*| > .*)?$/gm)].map(([, line = '']) => line);
  return lines.map((line) => [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? ''));
}

/** Where both doors lead in this test, whatever their configuration says. */
async function simulated(): Promise<Record<string, string>> {
  const { url } = await startSimulator({ websites: [{ id: 'w', pages: 12 }] });
  const google = start(['simulate', '--source', 'google', '--port', '0', '--pages', '60', '--json']);
  atEnd(() => {
    google.kill('SIGTERM');
    return google.ended;
  });
  await google.spoken;
  const { endpoint, client } = googleSchema.parse(JSON.parse(google.printed()));
  return {
    INDEXHOUSE_API_BASE_URL: url,
    INDEXHOUSE_GOOGLE_ENDPOINT: endpoint,
    INDEXHOUSE_GOOGLE_CLIENT: client,
  };
}

test('every command of the README runs, one after the other, with the configuration above it', async () => {
  const services = Object.entries(await simulated());
  const parts = README.split(/^## /m).map((part) => ({
    config: /```yaml\n([\s\S]*?)```/.exec(part)?.[1],
    commands: commandsOf(part),
  }));
  expect(parts.filter(({ config }) => config)).toHaveLength(1);
  expect(parts.flatMap(({ commands }) => commands).length).toBeGreaterThan(12);
  let cwd = temporaryFolder();
  let env: Record<string, string> = {};
  for (const { config, commands } of parts) {
    const isGoogle = commands[0]?.[0] === 'login';
    if (config || isGoogle) {
      cwd = temporaryFolder();
      if (config) writeFileSync(join(cwd, 'indexhouse.yaml'), config);
      env = {
        INDEXHOUSE_TOKEN: 'demo-token',
        INDEXHOUSE_SERVICE_PORT: '0',
        XDG_CONFIG_HOME: cwd,
        BROWSER: browserIn(cwd),
        // Of the sections that the configuration has.
        ...Object.fromEntries(services.filter(([key]) => isGoogle === key.includes('GOOGLE'))),
      };
    }
    for (const words of commands) {
      // The client is the simulated one.
      const own = words[0] === 'login' ? ['login', '--client', env['INDEXHOUSE_GOOGLE_CLIENT'] ?? ''] : words;
      await expectSuccess(own, { cwd, env });
    }
  }
});

/** A browser in which somebody allows what is asked for. */
function browserIn(folder: string): string {
  const path = join(folder, 'browser');
  writeFileSync(path, `#!${process.execPath}\nfetch(process.argv[2] + '&outcome=allow')`, { mode: 0o755 });
  return path;
}

async function expectSuccess(words: string[], options: { cwd: string; env: Record<string, string> }): Promise<void> {
  const serves = words.includes('--serve');
  if (!serves && !RUNS_UNTIL_STOPPED.has(words[0] ?? '')) {
    expect([words, await runProcess(words, options)]).toMatchObject([words, { code: 0 }]);
    return;
  }
  const running = start(words, options);
  await running.spoken;
  // The demo says more before it serves.
  if (serves) await vi.waitFor(() => expect(running.printed()).toContain('Stop with'), { timeout: DEMO_MS });
  running.kill('SIGTERM');
  expect([words, await running.ended]).toMatchObject([words, { code: 0 }]);
}
