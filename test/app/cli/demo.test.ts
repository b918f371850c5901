import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { programName } from '../../../src/app/cli/io.js';
import { once, testAtLength } from '../../given/at-length.js';
import { run, runProcess, start } from '../../given/cli.js';
import { startSimulator } from '../../given/client-clock.js';
import { temporaryFolder } from '../../given/folder.js';

const SMALL = ['--pages', '40', '--nights', '4'];
const AT_LENGTH = { timeout: 60_000, interval: 20 };

testAtLength('the demo ends with the story and what to try next, in 80 columns', async () => {
  const cwd = temporaryFolder();
  const { code, stdout } = await run(['demo', ...SMALL], { cwd });
  expect(code).toBe(0);
  expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  expect(stdout.trimEnd().split('\n').length).toBeLessThanOrEqual(25);
  const [, story = '', next] =
    /What happened in the last seven days:\n\n([\s\S]*)\n\n(The report[\s\S]*)$/.exec(stdout) ?? [];
  const report = (await run(['report', '-c', 'indexhouse-demo/indexhouse.yaml'], { cwd })).stdout;
  const sentence = /^\d+ of \d+ pages .*$/m.exec(report)?.[0];
  expect(story.replaceAll(/\n */g, ' ')).toContain(`  - ${sentence}`);
  const [, page = ''] = /url=(\S+)$/m.exec(stdout) ?? [];
  expect(next).toBe(`The report with charts is indexhouse-demo/report.html. Try next:

  indexhouse query indexing_trend -c indexhouse-demo/indexhouse.yaml
  indexhouse query deindexed_pages -c indexhouse-demo/indexhouse.yaml
  indexhouse query page -c indexhouse-demo/indexhouse.yaml \\
    url=${page}
  indexhouse demo --serve     # the same again, then its dashboard
`);
});

testAtLength('a demo of Search Console shows what is inspected, and leaves a warehouse to ask', async () => {
  const cwd = temporaryFolder();
  const { code, stdout } = await run(['demo', '--source', 'google', ...SMALL], { cwd });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^4 nights of a simulated site of 40 pages, .*:\s[\d,]+\srequests,\s\d+\sinspections/);
  expect(stdout.trimEnd().split('\n').length).toBeLessThanOrEqual(25);
  expect(stdout).toContain('indexhouse demo --source google --serve');
  expect(await run(['query', 'indexing_trend', '-c', 'indexhouse-demo/indexhouse.yaml'], { cwd })).toMatchObject({
    code,
  });
});

testAtLength('demo --serve signs people in to its dashboard until it is stopped, on any free port', async () => {
  const other = await startSimulator();
  const env = { INDEXHOUSE_SERVICE_PORT: new URL(other.origin).port };
  const running = start(['demo', '--serve', '--pages', '20', '--nights', '1'], { cwd: temporaryFolder(), env });
  try {
    await vi.waitFor(() => expect(running.printed()).toMatch(/Stop with Ctrl-C\.\n$/), AT_LENGTH);
    const said = /^Dashboard: (\S+)\nSign in with this token.*:\n\n {2}(\S+)\n/m.exec(running.printed());
    const [, dashboard = '', token = ''] = said ?? [];
    expect(new URL(dashboard).origin).not.toBe(other.origin);
    const body = new URLSearchParams({ token });
    const signIn = new URL('dashboard/sign-in', dashboard);
    const headers = { origin: signIn.origin };
    const answer = await fetch(signIn, { method: 'POST', body, headers, redirect: 'manual' });
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([303, expect.stringContaining('=')]);
  } finally {
    running.kill('SIGINT');
  }
  expect(await running.ended).toMatchObject({ code: 0, signal: null, stderr: '' });
});

once('commands are shown as they can be typed: by name if installed, else with the folder', async () => {
  const folder = join('/home', 'me', 'indexhouse');
  const program = (script: string, cwd: string, at = folder) => programName({ script, folder: at, cwd });
  expect(program(folder, folder)).toBe('node .');
  expect(program(join(folder, 'dist/src/app/cli/indexhouse.cjs'), join(folder, 'indexhouse-demo'))).toBe('node ..');
  expect(program(folder, '/home/me')).toBe('node indexhouse');
  expect(program('/usr/local/bin/indexhouse', '/home/me')).toBe('indexhouse');
  const installed = '/usr/lib/node_modules/indexhouse';
  expect(program(join(installed, 'dist/src/app/cli/indexhouse.cjs'), '/home/me', installed)).toBe('indexhouse');
  const { stdout } = await runProcess(['init'], { cwd: temporaryFolder() });
  expect(stdout).toMatch(/^ {2}\d\. Check everything: {3}node \S+ doctor$/m);
});
