import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { copyOf, temporaryFolder } from '../../given/folder.js';
import { newestFile } from '../../given/tamper.js';
import { buildNights } from '../../given/thinned.js';
import { sharedWarehouse } from '../../given/warehouse.js';

const built = sharedWarehouse(() => buildNights([1, 2, 3]));

const pipe = (path: string) => void execFileSync('mkfifo', [path]);
const folder = (path: string) => void mkdirSync(path);
const named = (name: string) => async (warehouse: string) => join(warehouse, name);
const newest = (table: 'snapshots' | 'coverage') => (warehouse: string) => newestFile(warehouse, table);

test.for([
  ['a pipe as a marker', newest('snapshots'), pipe, ['status', 'query indexing_trend']],
  ['a pipe as data', newest('coverage'), pipe, ['verify', 'backup to', 'query --sql from+coverage']],
  ['a pipe as the lock', named('run.lock.duckdb'), pipe, ['maintain']],
  ['a folder as the identity', named('warehouse.json'), folder, ['sync']],
] as const)('%s is named with what to do, and holds no command up', async ([, placeOf, make, lines]) => {
  const warehouse = copyOf(built.path);
  const path = await placeOf(warehouse);
  rmSync(path, { force: true });
  make(path);
  const config = writeConfig(temporaryFolder(), { websites: ['shop'], sections: { warehouse: { path: warehouse } } });
  for (const line of lines) {
    const words = line.split(' ').map((word) => word.replaceAll('+', ' '));
    if (words[1] === 'to') words[1] = temporaryFolder();
    const { code, stdout, stderr } = await run([...words, '--config', config]);
    expect([line, code, `${stdout}${stderr}`]).toEqual([
      line,
      expect.any(Number),
      expect.stringMatching(/ is a (folder|pipe or device), not a file/),
    ]);
    expect(`${stdout}${stderr}`).not.toContain('EISDIR');
  }
});
