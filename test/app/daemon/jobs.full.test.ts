import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { nightlySync } from '../../../jobs/nightly-sync.js';
import { journalFolder } from '../../../src/warehouse/journal/folder.js';
import { listTableFiles } from '../../../src/warehouse/log/folder/layout.js';
import { run } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { copyOf } from '../../given/folder.js';
import { given as configOf } from '../../given/synced.js';
import { buildWarehouse, sharedWarehouse } from '../../given/warehouse.js';

const built = sharedWarehouse(() => {
  const page = { url: 'https://shop.example/a', entry: { index_summary: 'Indexed' }, report: {} };
  return buildWarehouse([{ at: '2025-03-01T02:00:00Z', lists: { shop: [page] } }]);
});

function given() {
  const warehouse = copyOf(built.path);
  const folder = dirname(warehouse);
  const sections = { warehouse: { path: warehouse } };
  const config = writeConfig(folder, { websites: ['shop'], sections });
  const once = (job: string) => run(['schedule', '--once', job, '--config', config]);
  const jobs = async () => JSON.parse((await run(['status', '--json', '--config', config])).stdout).jobs;
  return { warehouse, folder, config, once, jobs };
}

test('the job report writes a dated file, and keeps the newest ones of its own; status names it until it succeeds', async () => {
  const { folder, once, jobs } = given();
  const reports = join(folder, 'reports');
  writeFileSync(reports, '');
  expect(await once('report')).not.toMatchObject({ code: 0 });
  expect(await jobs()).toEqual([expect.stringMatching(/^the scheduled report of .* ended with exit code \d/)]);
  rmSync(reports);
  mkdirSync(reports);
  const older = Array.from({ length: 30 }, (_, day) => `indexhouse-2025-01-${String(day + 1).padStart(2, '0')}.html`);
  for (const name of [...older, 'a-note.html']) writeFileSync(join(reports, name), '');
  expect(await once('report')).toMatchObject({ code: 0 });
  expect(readdirSync(reports).sort()).toEqual(['a-note.html', ...older.slice(1), 'indexhouse-2025-03-01.html']);
  expect(readFileSync(join(reports, 'indexhouse-2025-03-01.html'), 'utf8')).toMatch(/^<!doctype html>/i);
  expect(await jobs()).toEqual([]);
});

test('the job verify logs each finding with its remedy', async () => {
  const { warehouse, once } = given();
  const [file = ''] = await listTableFiles(warehouse, 'coverage');
  writeFileSync(file, '');
  const { code, stderr } = await once('verify');
  expect(code).toBe(1);
  expect(stderr).toContain(`${file} was changed after its commit`);
  expect(stderr).toContain('restore the file from a backup');
});

test('the nightly sync is unfinished while a journal is there that is young enough to be resumed', async () => {
  const { warehouse, config } = given();
  const isUnfinished = async () => nightlySync.isUnfinished?.(await configOf(config));
  expect(await isUnfinished()).toBe(false);
  const { header, path } = journalFolder(warehouse, '0196b3c0-0000-7000-8000-000000000000', 'shop');
  mkdirSync(path, { recursive: true });
  writeFileSync(header, '{}');
  expect(await isUnfinished()).toBe(true);
  const yesterday = Date.now() / 1000 - 86_400;
  utimesSync(header, yesterday, yesterday);
  expect(await isUnfinished()).toBe(false);
});
