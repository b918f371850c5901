import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { processIo } from '../../src/app/cli/io.js';
import { buildProgram } from '../../src/app/cli/program.js';
import { PROGRAM, run, runProcess, start } from '../given/cli.js';
import { startSimulator } from '../given/client-clock.js';
import { writeConfig } from '../given/config-file.js';
import { temporaryFolder } from '../given/folder.js';

/** Each command, in an order in which one after the other has something to do. */
const COMMANDS = [
  'init',
  'doctor',
  'sync --dry-run',
  'sync',
  'status',
  'query indexing_trend',
  'report',
  'analytics --out views.duckdb',
  'keys list',
  'note --list',
  'maintain',
  'backup copy',
  'restore --if-missing --from s3://lake/nights',
  'verify',
  'notify --test',
  'remove --website w --yes',
  'demo --pages 10 --nights 1',
];
/** For Search Console: in test/app/cli/inspect.full.test.ts and login.test.ts. */
const ELSEWHERE = ['inspect', 'login', 'logout'];
const UNTIL_STOPPED = ['schedule', 'serve --port 0', 'simulate --port 0', 'mcp'];
/** Those that run as a process of their own; the others run in this one. */
const PROCESSES = ['init', 'query indexing_trend', 'report'];
/** Those whose outputs break: a log, and a stream of rows. */
const WITH_OUTPUT = ['sync', 'query indexing_trend'];

/** A service, a folder, and the words of a command line for them. */
async function given() {
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
  return { cwd, wordsOf };
}

test('every command runs and ends well', async () => {
  const all = buildProgram('0.0.0', processIo(), { exitCode: 0 }).commands.map((command) => command.name());
  expect(new Set([...COMMANDS, ...ELSEWHERE, ...UNTIL_STOPPED].map((line) => line.split(' ')[0]))).toEqual(
    new Set(all),
  );
  const { cwd, wordsOf } = await given();
  for (const line of COMMANDS) {
    const { code, stdout, stderr } = await (PROCESSES.includes(line) ? runProcess : run)(wordsOf(line), { cwd });
    expect([line, code, stderr]).toEqual([line, 0, expect.not.stringMatching(/^indexhouse: (?!as of)/m)]);
    expect([line, stdout]).toEqual([line, expect.stringMatching(/\n$/)]);
  }
  const running = UNTIL_STOPPED.map((line) => start(wordsOf(line), { cwd }));
  for (const { spoken, kill, ended } of running) {
    await spoken;
    kill('SIGTERM');
    expect(await ended).toMatchObject({ code: 0, signal: null });
  }
});

/** An output that takes nothing, and the exit code and the line that say so: none where the work is done all the same. */
const BROKEN: [to: string, code: number, line: RegExp][] = [
  ['2> /dev/full', 0, /^$/],
  ['> /dev/full', 1, /^indexhouse: cannot write to stdout: ENOSPC.*\n$/],
  ['| head -c 1 > /dev/null', 0, /^$/],
];

test.runIf(existsSync('/dev/full')).for(BROKEN)('%s breaks no command', async ([to, code, line]) => {
  const { cwd, wordsOf } = await given();
  for (const command of WITH_OUTPUT) {
    const shell = ['--norc', '-c', `set -o pipefail; "$@" ${to}`, 'bash', process.execPath, PROGRAM];
    const child = execFile('bash', [...shell, ...wordsOf(command)], {
      cwd,
      env: { PATH: process.env['PATH'], TMPDIR: tmpdir() },
    });
    let stderr = '';
    child.stderr?.on('data', (text: string) => (stderr += text));
    const [ended] = await once(child, 'close');
    const said = stderr.replaceAll(/^(\{.*\}|indexhouse: as of .*)\n/gm, '');
    expect([command, ended, said]).toEqual([command, code, expect.stringMatching(line)]);
  }
});
