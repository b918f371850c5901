import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withEngine } from '../../src/base/storage/engine.js';
import { runExitCode } from '../../src/sync/receipt.js';
import { rebuildDuckdb } from '../../src/warehouse/copies/duckdb.js';
import { filesOf } from '../../src/warehouse/log/markers.js';
import { backUp } from '../../src/warehouse/upkeep/backup.js';
import { start } from '../given/cli.js';
import { startSimulator } from '../given/client-clock.js';
import { writeConfig } from '../given/config-file.js';
import { temporaryFolder } from '../given/folder.js';
import { readMarkers } from '../given/markers.js';
import { syncNow } from '../given/synced.js';
import { findingsOf } from '../given/verified.js';

test('a warehouse is copied while a sync runs, again and again, and every copy is whole', async () => {
  const folder = temporaryFolder();
  const simulator = await startSimulator({ seed: 2, websites: [{ id: 'w', pages: 150 }] });
  const config = writeConfig(folder, { baseUrl: simulator.url, websites: ['w'] });
  expect(runExitCode(await syncNow(config))).toBe(0);
  const copy = join(folder, 'backup');
  const running = start(['sync', '--config', config]);
  let isOver = false;
  const ended = running.ended.finally(() => {
    isOver = true;
  });
  let copies = 0;
  for (; !isOver; copies++) {
    rmSync(copy, { recursive: true, force: true });
    await backUp(join(folder, 'warehouse'), copy, { keys: false });
    await withEngine({ memoryLimit: 256e6, temporary: join(folder, 'tmp') }, async (engine) => {
      const markers = await readMarkers(engine, copy);
      expect(filesOf(copy, markers, 'coverage').filter((file) => !existsSync(file))).toEqual([]);
    });
  }
  expect(await ended).toMatchObject({ code: 0 });
  expect(copies).toBeGreaterThan(3);
  await rebuildDuckdb({ warehouse: copy, memoryLimit: 256e6 });
  expect(await findingsOf(copy)).toEqual([]);
});
