import { execFileSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROGRAM, run } from '../../given/cli.js';
import { temporaryFolder } from '../../given/folder.js';

/** What is typed before the Tab key, and what is offered. Where that is nothing, the shell offers files. */
const CASES: [typed: string, offered: string[]][] = [
  ['st', ['status']],
  ['keys ', ['add', 'list', 'revoke']],
  ['keys add --la', ['--label']],
  ['query --format ', ['csv', 'json', 'md', 'parquet', 'table', 'xlsx']],
  ['query --format = c', ['csv']],
  ['query --format =', ['csv', 'json', 'md', 'parquet', 'table', 'xlsx']],
  ['query -p since=status --raw', ['--raw-csv']],
  ['query indexing', ['indexing_trend']],
  ['query --describe robots', ['robots_blocked']],
  ['schedule --once v', ['verify']],
  ['-c sync --log-level wa', ['warn']],
  ['completion ', ['bash', 'fish', 'zsh']],
  ['sync --deadline ', []],
  ['sync --website st', []],
];

test.each(CASES)('completes %j', async (typed, offered) => {
  const { code, stdout } = await run(['completion', 'bash', '--', ...typed.split(' ')]);
  expect([code, stdout.split('\n').filter(Boolean).sort()]).toEqual([0, offered]);
});

test('zsh and fish also get what each word means', async () => {
  const offered = async (shell: string) => (await run(['completion', shell, '--', 'keys', 're'])).stdout;
  expect(await offered('zsh')).toMatch(/^revoke:\w.*\n$/);
  expect(await offered('fish')).toMatch(/^revoke\t\w.*\n$/);
});

test('the script completes in bash', async () => {
  const folder = temporaryFolder();
  const { stdout } = await run(['completion', 'bash']);
  writeFileSync(join(folder, 'script'), stdout);
  writeFileSync(join(folder, 'indexhouse'), `#!/bin/sh\nexec ${process.execPath} ${PROGRAM} "$@"\n`);
  chmodSync(join(folder, 'indexhouse'), 0o755);
  const ask = `source script; COMP_WORDS=(indexhouse keys re); COMP_CWORD=2; _indexhouse; echo "\${COMPREPLY[@]}"`;
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}` };
  expect(execFileSync('bash', ['-c', ask], { cwd: folder, env, encoding: 'utf8' })).toBe('revoke\n');
});
