import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const OPTIONS = ['--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts'];
const NO_NETWORK = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED/;

/** Building or installing takes minutes: what is there is used again. */
export const CACHE = process.env['INDEXHOUSE_TEST_CACHE'] ?? join(homedir(), '.cache', 'indexhouse-tests');

/** Whether other people's tools, hundreds of megabytes, may be downloaded; where they may not be, that is said. */
export function mayInstallTools(): boolean {
  const isAllowed = process.env['INDEXHOUSE_TEST_TOOLS'] !== 'no';
  if (!isAllowed) process.stdout.write('skipped: INDEXHOUSE_TEST_TOOLS=no installs no tools of others\n');
  return isAllowed;
}

/**
 * Installs packages into a folder, as somebody would who has never heard of this project.
 *
 * @returns whether they are there: not where there is no registry to be reached, which is said
 */
export function installed(folder: string, packages: string[]): boolean {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"private": true, "type": "module"}');
  const options = { cwd: folder, encoding: 'utf8' } as const;
  const { status, stderr } = spawnSync('npm', ['install', ...OPTIONS, ...packages], options);
  if (status === 0) return true;
  if (!NO_NETWORK.test(stderr)) throw new Error(stderr);
  process.stdout.write(`skipped: no registry has ${packages.join(', ')}: ${NO_NETWORK.exec(stderr)}\n`);
  return false;
}
