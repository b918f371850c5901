import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createLogger } from '../../../src/base/observe/log.js';
import { dropSuperseded } from '../../../src/warehouse/log/commit.js';
import { withRunLock } from '../../../src/warehouse/log/lock.js';
import { addNote } from '../../../src/warehouse/upkeep/note.js';
import { sync } from '../../given/client-clock.js';
import { copyOf, temporaryFolder } from '../../given/folder.js';
import { startService } from '../../given/service.js';
import { buildNights } from '../../given/thinned.js';
import { configFor, sharedWarehouse } from '../../given/warehouse.js';

const built = sharedWarehouse(() => buildNights([1, 2, 3]));

test('a note is written while other work of the same process begins and ends', async () => {
  const warehouse = copyOf(built.path);
  const config = configFor({ baseUrl: 'http://127.0.0.1:1', warehouse });
  const note = { websites: ['shop'], note_date: '2025-03-02', directory: null, note: 'Relaunch', removes: null };
  let isOver = false;
  const adding = addNote(config, note, createLogger({ level: 'silent' })).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await withRunLock(warehouse, 'sync', async () => {}).catch(() => {});
    await setTimeout(20);
  }
  await adding;
  expect(readdirSync(join(warehouse, 'tmp'))).toEqual([]);
});

test('whoever takes the lock deletes what its holders left, and what others left an hour ago', async () => {
  const warehouse = copyOf(built.path);
  const left = (name: string) => join(warehouse, 'tmp', name);
  // Such as that of another container, in which every process has the id 1.
  for (const name of ['locked', 'of-today', '1', 'old']) mkdirSync(left(name), { recursive: true });
  const small = ['run.json', 'jobs.json', 'schema/columns.json'].map((name) =>
    join(warehouse, `${name}.${randomUUID()}.tmp`),
  );
  for (const file of small) writeFileSync(file, '');
  for (const path of [left('old'), ...small.slice(1)]) utimesSync(path, new Date(), new Date(Date.now() - 3_600_000));
  await withRunLock(warehouse, 'sync', async () => {
    expect(readdirSync(join(warehouse, 'tmp'))).toEqual(['1', 'of-today']);
    expect(small.filter((file) => existsSync(file))).toEqual(small.slice(0, 1));
  });
});

test('of two first syncs at once one runs, and the other says that it does', async () => {
  const service = await startService();
  service.list('shop', [{ url: 'https://shop.example/a' }]);
  const warehouse = join(temporaryFolder(), 'warehouse');
  const config = configFor({ baseUrl: service.url, warehouse });
  const runs = await Promise.allSettled([1, 2].map(() => sync({ config, websites: ['shop'] })));
  const refused = runs.flatMap((run) => (run.status === 'rejected' ? [run.reason] : []));
  expect(refused).toMatchObject([{ exitCode: 4, message: expect.stringMatching(/^sync cannot start: /) }]);
  expect(existsSync(join(warehouse, 'warehouse.json'))).toBe(true);
});

test('a superseded state stays for an hour, for readers that have just started', async () => {
  const folder = temporaryFolder();
  const files = ['1', '2', '3', '4'].map((name) => join(folder, name));
  for (const file of files) writeFileSync(file, '');
  const left = async (minutes: number) => {
    await dropSuperseded(folder, files, Date.now() + minutes * 60_000);
    return readdirSync(folder);
  };
  expect(await left(59)).toHaveLength(4);
  expect(await left(61)).toEqual(['3', '4']);
});
