import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageFolder } from '../../src/storage/sql.js';
import { folderOnDisk, temporaryFolder } from '../given/folder.js';
import { installed } from '../given/packages.js';

test('the package, installed in an empty folder, runs the demo', (context) => {
  const packed = temporaryFolder();
  // It is built already, and the other tests that run beside this one use what is built.
  execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', packed], {
    cwd: packageFolder(),
    stdio: 'ignore',
  });
  const [file = ''] = readdirSync(packed);
  const folder = folderOnDisk('package');
  if (!installed(folder, [join(packed, file)])) return context.skip();
  const said = execFileSync('npx', ['indexhouse', 'demo', '--json', '--pages', '40', '--nights', '2'], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  expect(JSON.parse(said)).toMatchObject({ receipts: [{}, {}] });
  expect(readdirSync(folder)).toContain('indexhouse-demo');
});
