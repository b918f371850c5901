import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { folderOnDisk } from '../given/folder.js';
import { mayInstallTools } from '../given/packages.js';

/** The schemas come with them. */
const PACKAGES = ['check-jsonschema==0.39.0', 'kubernetes-validate==1.37.0'];
const UNITS = readdirSync('deploy/systemd').map((name) => join('deploy/systemd', name));
const HAS_SYSTEMD = spawnSync('systemd-analyze', ['--version']).status === 0;
if (!HAS_SYSTEMD) process.stdout.write('skipped: there is no systemd-analyze\n');

const folder = folderOnDisk('deploy');
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const HAS_SCHEMAS = mayInstallTools() && installed();

function installed(): boolean {
  const isThere =
    spawnSync('python3', ['-m', 'venv', folder]).status === 0 &&
    spawnSync(join(folder, 'bin', 'pip'), ['install', '-q', ...PACKAGES]).status === 0;
  if (!isThere) process.stdout.write(`skipped: there is no Python that can install ${PACKAGES.join(', ')}\n`);
  return isThere;
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
  ['check-jsonschema', ['--builtin-schema', 'vendor.github-workflows', 'deploy/github-actions/nightly.yml']],
])('%s %j finds nothing wrong', (program, args) => {
  const { status, output } = ran(join(folder, 'bin', program), args);
  expect(status, output).toBe(0);
});
