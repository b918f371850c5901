import { join } from 'node:path';
import { expect, test } from 'vitest';
import { processIo } from '../../src/cli/io.js';
import { buildProgram } from '../../src/cli/program.js';
import { startSimulator } from '../../src/simulator/simulator.js';
import { runProcess, start } from '../given/cli.js';
import { writeConfig } from '../given/config-file.js';
import { temporaryFolder } from '../given/folder.js';

/** Each command, in an order in which one after the other has something to do; other tests run them in process. */
const COMMANDS = [
  'init',
  'doctor',
  'plan',
  'sync',
  'status',
  'query indexing_trend',
  'report',
  'analytics --out views.duckdb',
  'keys list',
  'replay',
  'maintain',
  'rebuild',
  'backup copy',
  'verify',
  'completion bash',
  'notify --test',
  'demo --pages 10 --nights 1',
];
const UNTIL_STOPPED = ['schedule', 'serve --port 0', 'simulate --port 0'];

test('every command runs as a process of its own, and ends well', async () => {
  const all = buildProgram('0.0.0', processIo(), { exitCode: 0 }).commands.map((command) => command.name());
  expect(new Set([...COMMANDS, ...UNTIL_STOPPED].map((line) => line.split(' ')[0]))).toEqual(new Set(all));

  const simulator = await startSimulator({ websites: [{ id: 'w', pages: 10 }] });
  const cwd = temporaryFolder();
  const config = writeConfig(temporaryFolder(), {
    baseUrl: simulator.url,
    websites: ['w'],
    sections: {
      warehouse: { path: join(cwd, 'warehouse') },
      notify: { channels: [{ type: 'command', run: ['/bin/cat'] }] },
    },
  });
  const wordsOf = (line: string) => [...line.split(' '), ...(/^(init|demo)/.test(line) ? [] : ['--config', config])];
  try {
    for (const line of COMMANDS) {
      const { code, stdout, stderr } = await runProcess(wordsOf(line), { cwd });
      expect([line, code, stderr]).toEqual([line, 0, expect.not.stringContaining('indexhouse: ')]);
      expect([line, stdout]).toEqual([line, expect.stringMatching(/\n$/)]);
    }
    const running = UNTIL_STOPPED.map((line) => start(wordsOf(line), { cwd }));
    for (const { spoken, kill, ended } of running) {
      await spoken;
      kill('SIGTERM');
      expect(await ended).toMatchObject({ code: 0, signal: null });
    }
  } finally {
    await simulator.close();
  }
});
