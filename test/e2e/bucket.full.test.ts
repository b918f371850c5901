import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { Bucket } from '../../src/warehouse/bucket/client.js';
import { seeds } from '../given/at-length.js';
import { startBucket } from '../given/bucket.js';
import { copiedFiles, expectNoMarkerBeforeItsFiles } from '../given/bucket-copy.js';
import { run, runProcess, start } from '../given/cli.js';
import { writeConfig } from '../given/config-file.js';
import { copyOf, folderOnDisk, temporaryFolder } from '../given/folder.js';
import { hasServer, startRealServer } from '../given/s3-servers.js';
import { buildWarehouse, sharedWarehouse } from '../given/warehouse.js';

const disk = folderOnDisk('s3');

const built = sharedWarehouse(() => {
  const pages = ['p', 'q', 'r'].map((name) => ({ url: `https://a.example/${name}` }));
  const lists = { 'a/b é%*': pages, shop: pages };
  return buildWarehouse(['01', '02', '03'].map((day) => ({ at: `2025-03-${day}T02:00:00Z`, lists })));
});

/** Kills `sync --recover`, which does nothing but catch up, at random moments, until it was quick enough each time. */
async function killed(kills: number) {
  let left = kills;
  for (let round = 1; left > 0; round++) {
    const path = copyOf(built.path);
    const bucket = `s3://lake/round-${round}`;
    const file = writeConfig(temporaryFolder(), { sections: { bucket, warehouse: { path } } });
    const lake = new Bucket(bucket);
    let code: number | null = null;
    while (code !== 0 && left > 0) {
      const running = start(['sync', '--recover', '--config', file]);
      await Promise.race([running.ended, delay(300 + Math.random() * 900)]);
      running.kill('SIGKILL');
      ({ code } = await running.ended);
      left--;
      await expectNoMarkerBeforeItsFiles(new Set(await lake.keys('')), path);
    }
    const { code: last, stderr } = await runProcess(['sync', '--recover', '--config', file]);
    expect(last, stderr).toBe(0);
    const { stdout } = await run(['verify', '--json', '--config', file]);
    expect(JSON.parse(stdout).findings.filter(({ check }: { check: string }) => check === 'bucket')).toEqual([]);
    const there = (await lake.keys('')).filter((key) => key !== 'owner.json');
    const here = [...copiedFiles(path).keys()].filter((key) => there.includes(key) || !key.startsWith('state/'));
    expect(there.sort()).toEqual(here.sort());

    const copy = join(temporaryFolder(), 'copy');
    const other = writeConfig(temporaryFolder(), { sections: { bucket, warehouse: { path: copy } } });
    const restored = await run(['restore', '--take-over', '--config', other]);
    expect(restored.code, restored.stderr).toBe(0);
    for (const [key, body] of copiedFiles(copy)) expect(copiedFiles(path).get(key)?.equals(body), key).toBe(true);
    expect((await run(['sync', '--recover', '--config', file])).stderr).toContain('belongs to');
    expect((await run(['doctor', '--config', other])).stdout).toContain(`${bucket} can be written`);
    await lake.close();
  }
}

describe('SIGKILLs while the bucket catches up', () => {
  test('leave no marker before its files, and the folder and the bucket end up equal', async () => {
    await startBucket({ pageSize: 7 });
    await killed(seeds(1).length);
  });

  test.runIf(hasServer())('the same with versitygw', async () => {
    const server = await startRealServer(disk);
    await killed(seeds(1, 2).length).finally(server.close);
  });
});
