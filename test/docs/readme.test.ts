import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { processIo } from '../../src/cli/io.js';
import { buildProgram } from '../../src/cli/program.js';
import { packageFolder } from '../../src/storage/sql.js';

const README = readFileSync(join(packageFolder(), 'README.md'), 'utf8');
test('the README names the two commands that do everything, and every command that there is', () => {
  expect(README).toContain('npm ci && npm run demo');
  expect(README).toContain('npm ci && npm test');
  const named = new Set([...README.matchAll(/(?:npx indexhouse|`indexhouse) (\w+)/g)].map(([, name]) => name));
  const all = buildProgram('0.0.0', processIo(), { exitCode: 0 }).commands.map((command) => command.name());
  expect(all.filter((name) => !named.has(name) && name !== 'demo')).toEqual([]);
});
