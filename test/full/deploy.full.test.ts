import { execFile, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { PROGRAM, run } from '../given/cli.js';
import { startSimulator } from '../given/client-clock.js';
import { writeConfig } from '../given/config-file.js';
import { folderOnDisk, temporaryFolder } from '../given/folder.js';
import { mayInstallTools } from '../given/packages.js';

/** The schemas come with them. */
const PACKAGES = ['check-jsonschema==0.39.0', 'kubernetes-validate==1.37.0'];
const UNITS = readdirSync('deploy/systemd').map((name) => join('deploy/systemd', name));
/** Ours, and the one that users copy. */
const WORKFLOWS = ['.github/workflows/ci.yml', '.github/workflows/release.yml', 'deploy/github-actions/nightly.yml'];
const HAS_SYSTEMD = spawnSync('systemd-analyze', ['--version']).status === 0;

const folder = folderOnDisk('deploy');
const HAS_SCHEMAS = mayInstallTools() && installed();

function installed(): boolean {
  const hasPython = spawnSync('python3', ['-m', 'venv', folder]).status === 0;
  return hasPython && spawnSync(join(folder, 'bin', 'pip'), ['install', '-q', ...PACKAGES]).status === 0;
}

function ran(program: string, args: string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

test.runIf(HAS_SYSTEMD)('systemd takes the units without a remark', () => {
  expect(ran('systemd-analyze', ['verify', ...UNITS])).toEqual({ status: 0, output: '' });
});

test.runIf(HAS_SCHEMAS).each([
  ['kubernetes-validate', ['--strict', 'deploy/kubernetes/indexhouse.yaml']],
  ['check-jsonschema', ['--builtin-schema', 'vendor.compose-spec', 'deploy/compose.yaml']],
  ['check-jsonschema', ['--builtin-schema', 'vendor.github-workflows', ...WORKFLOWS]],
])('%s %j finds nothing wrong', (program, args) => {
  const { status, output } = ran(join(folder, 'bin', program), args);
  expect(status, output).toBe(0);
});

const cron = readFileSync('docs/operations.md', 'utf8');

test('cron runs a night as it is written, in no shell of a user', async () => {
  const [, line = ''] = /^0 2 \* \* \* (.*)$/m.exec(cron) ?? [];
  const [, path = ''] = /^PATH=(.*)$/m.exec(cron) ?? [];
  const simulator = await startSimulator({ websites: [{ id: 'w', pages: 20 }] });
  const cwd = temporaryFolder();
  const given = { token: `\${INDEXHOUSE_TOKEN}`, sections: { warehouse: { path: './warehouse' } } };
  const config = writeConfig(cwd, { baseUrl: simulator.url, websites: ['w'], ...given });
  writeFileSync(join(folder, 'indexhouse'), `#!/bin/sh\nexec ${process.execPath} ${PROGRAM} "$@"\n`, { mode: 0o755 });
  const started = ['-c', line.replace('/srv/indexhouse', cwd)];
  const env = { PATH: path.replace('/usr/local/bin', folder) };
  const ran = () => promisify(execFile)('/bin/sh', started, { cwd, env }).catch((error: unknown) => error);
  expect(await ran()).toMatchObject({ code: 2, stderr: expect.stringContaining('environment') });
  writeFileSync(join(cwd, 'environment'), 'INDEXHOUSE_TOKEN=refused\n', { mode: 0o600 });
  expect(await ran()).toMatchObject({ code: 1, stderr: expect.stringContaining('401') });
  writeFileSync(join(cwd, 'environment'), 'INDEXHOUSE_TOKEN=demo-token\n');
  // cron would mail whatever is printed.
  expect(await ran()).toEqual({ stdout: expect.any(String), stderr: '' });
  const { stdout } = await run(['status', '--json', '--config', config]);
  expect(JSON.parse(stdout)).toMatchObject({ websites: [{ website_id: 'w', snapshots: 1 }] });
});
