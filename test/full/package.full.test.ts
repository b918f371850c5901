import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, type TestContext, test } from 'vitest';
import { packageFolder } from '../../src/storage/sql.js';
import { folderOnDisk, temporaryFolder } from '../given/folder.js';
import { installed } from '../given/packages.js';

/** Installs the package into a new folder; skips the test where there is no registry. */
function installPackage(context: TestContext, isGlobal = false): string {
  const packed = temporaryFolder();
  // It is built already, and the other tests that run beside this one use what is built.
  execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', packed], {
    cwd: packageFolder(),
    stdio: 'ignore',
  });
  const [file = ''] = readdirSync(packed);
  const folder = folderOnDisk('package');
  const flags = isGlobal ? ['--global', '--prefix', folder] : [];
  return installed(folder, [join(packed, file), ...flags]) ? folder : context.skip();
}

/** The schema that the configuration which `init` writes names, as an editor finds it from there. */
function schemaIn(folder: string): string {
  const [, schema = ''] = /\$schema=(\S+)/.exec(readFileSync(join(folder, 'indexhouse.yaml'), 'utf8')) ?? [];
  return schema.startsWith('file:') ? fileURLToPath(schema) : resolve(folder, schema);
}

test('the package, installed in an empty folder, runs the demo, and init names its schema', (context) => {
  const folder = installPackage(context);
  const ran = (...words: string[]) =>
    execFileSync('npx', ['indexhouse', ...words], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  expect(JSON.parse(ran('demo', '--json', '--pages', '40', '--nights', '2'))).toMatchObject({ receipts: [{}, {}] });
  expect(readdirSync(folder)).toContain('indexhouse-demo');
  ran('init');
  expect(schemaIn(folder)).toBe(join(folder, 'node_modules/indexhouse/docs/indexhouse.schema.json'));
  expect(existsSync(schemaIn(folder))).toBe(true);
});

test('installed globally, init names the schema of that installation', (context) => {
  const prefix = installPackage(context, true);
  const folder = temporaryFolder();
  execFileSync(join(prefix, 'bin', 'indexhouse'), ['init'], { cwd: folder, stdio: 'ignore' });
  expect(schemaIn(folder)).toBe(join(prefix, 'lib/node_modules/indexhouse/docs/indexhouse.schema.json'));
  expect(existsSync(schemaIn(folder))).toBe(true);
});
