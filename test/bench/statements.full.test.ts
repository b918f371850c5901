import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inFolder, nightsOf, PROGRAM, runProgram } from '../../bench/processes.js';

/** The modules that a command loads, without those of ES modules. */
function loadedBy(...args: string[]): string {
  const script = "process.on('exit', () => process.stderr.write(Object.keys(require.cache).join('\\n')))";
  const hook = `data:text/javascript,import { createRequire } from 'node:module'; const require = createRequire('${import.meta.url}'); ${script}`;
  return execFileSync(
    'sh',
    ['-c', '"$@" 2>&1 >/dev/null', 'sh', process.execPath, '--import', hook, PROGRAM, ...args],
    {
      encoding: 'utf8',
    },
  );
}

test('a small night, and a reader before its first question, take few statements, engines and modules', () =>
  inFolder(async (folder) => {
    const warehouse = join(folder, 'warehouse');
    const { first, second } = await nightsOf(warehouse, 20);
    const asked = await runProgram(['query', '--sql', 'select 1'], warehouse);
    const most = { first: 150, second: 90, asked: 30 };
    for (const [name, { statements }] of Object.entries({ first, second, asked }))
      expect(statements, name).toBeLessThanOrEqual(most[name as keyof typeof most]);
    // For the lock, the run and `indexhouse.duckdb`.
    expect(second.engines).toBe(3);
    expect(second.loadsGoogle).toBe(false);

    expect(loadedBy('query', '--sql', 'select 1', '--warehouse', warehouse)).not.toMatch(/undici|google/);
  }));

test.each(['--version', '--help'])('%s loads no engine', (flag) => {
  const loaded = loadedBy(flag);
  expect(loaded).toContain('commander');
  expect(loaded).not.toContain('duckdb');
});
