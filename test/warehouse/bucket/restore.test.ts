import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { atLength, once, testAtLength } from '../../given/at-length.js';
import { environmentOf, type GivenBucket, SECRET, startBucket } from '../../given/bucket.js';
import { copiedFiles, copyTo, page } from '../../given/bucket-copy.js';
import { run } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { temporaryFolder } from '../../given/folder.js';
import { type ScriptedService, startService } from '../../given/service.js';
import { findingsOf } from '../../given/verified.js';
import { buildWarehouse, sharedWarehouse, syncAt } from '../../given/warehouse.js';

const ODD = 'a/b é%*';
let server: GivenBucket;
let service: ScriptedService;
let folder = '';
let config = '';

const built = sharedWarehouse(() =>
  buildWarehouse([
    { at: '2025-03-01T02:00:00Z', lists: { [ODD]: [page('p'), page('q')], shop: [page('s')] } },
    { at: '2025-03-05T02:00:00Z', lists: { [ODD]: [page('p'), page('q', 'Not indexed')] } },
  ]),
);
beforeAll(async () => {
  server = await startBucket({ pageSize: 7, prefix: '/nights' });
  await copyTo(server, built.path);
  service = await startService();
});
beforeEach(() => {
  server.fault = null;
  folder = temporaryFolder();
  const bucket = server.config;
  config = writeConfig(folder, { baseUrl: service.url, sections: { bucket } });
});

const restore = (...flags: string[]) => run(['restore', '--config', config, ...flags]);
/** But for `indexhouse.duckdb`, which the next sync makes. */
const differences = async () => (await findingsOf(warehouse())).filter(({ level }) => level === 'difference');
const warehouse = () => join(folder, 'warehouse');

describe('restore', () => {
  test('gives the warehouse that was sent, and is complete however often it was interrupted', async () => {
    let left = 0;
    server.fault = () => (left-- > 0 ? null : '403 AccessDenied');
    for (const requests of atLength([0, 10], [0, 5, 8, 10, 12])) {
      left = requests;
      const { code, stderr } = await restore('--if-missing');
      expect(code).toBe(1);
      expect(stderr).toContain('allow this key s3:ListBucket');
      expect(stderr).not.toContain(SECRET);
      expect(existsSync(join(warehouse(), 'warehouse.json'))).toBe(false);
    }
    server.fault = null;
    const { code, stdout } = await restore('--if-missing');
    expect(code, stdout).toBe(0);
    expect(stdout).toContain(`Restored ${warehouse()} from s3://lake/nights`);
    const restored = copiedFiles(warehouse());
    // Of the states only the newest is needed.
    for (const [key, body] of copiedFiles(built.path)) {
      if (/^(parquet|warehouse)/.test(key)) expect(restored.get(key)?.equals(body), key).toBe(true);
    }
    expect([...restored.keys()].filter((key) => key.startsWith('state/'))).toHaveLength(2);
    expect(await differences()).toEqual([]);
    expect((await restore('--if-missing')).stdout).toContain('is there already');
    const again = await restore();
    expect(again.code).toBe(2);
    expect(again.stderr).toContain('is there already and was not changed');
  });

  once('needs no configuration, and says what is wrong with its flags and the bucket', async () => {
    const env = environmentOf(server.config);
    const copy = join(folder, 'copy');
    const { code } = await run(['restore', '--from', 's3://lake/nights/', '--warehouse', copy], { env });
    expect(code).toBe(0);
    expect(existsSync(join(copy, 'warehouse.json'))).toBe(true);
    const nothing = await restore('--from', 's3://lake/days', '--if-missing');
    expect(nothing).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing to restore') });
    expect((await restore('--from', 's3://lake/days')).stderr).toContain('there is no warehouse at s3://lake/days');
    expect((await restore('--from', 'lake')).stderr).toContain('--from lake is not the address of a bucket');
    expect((await restore('--history', '30')).stderr).toContain('--history 30 is not a number of days');
    const none = await run(['restore', '--from', 's3://lake/nights', '--warehouse', join(folder, 'other')]);
    expect(none.stderr).toContain('there are no credentials for s3://lake/nights');
  });

  testAtLength('with --history fetches what the next sync needs, and readers say what they lack', async () => {
    const { code, stdout } = await restore('--history', '1d');
    expect(code, stdout).toBe(0);
    expect(stdout).toMatch(/Left there: \d+ files before 20..-..-..\./);
    const data = () => [...copiedFiles(warehouse()).keys()].filter((key) => key.startsWith('parquet/coverage/'));
    expect(data()).toMatchObject([expect.stringContaining('date=2025-03-05')]);
    expect(await differences()).toEqual([]);

    const sql = 'select count(*)::int as pages, (select count(*)::int from coverage) as listed from pages';
    const asked = await run(['query', '--sql', sql, '--json', '--config', config]);
    expect(JSON.parse(asked.stdout)).toEqual([{ pages: 3, listed: 2 }]);
    expect(asked.code).toBe(0);
    expect(asked.stderr).toMatch(/reports before 2025-03-04 stayed in s3:\/\/lake\/nights/);

    service.list(ODD, [page('p'), page('q')]);
    const receipt = await syncAt({
      baseUrl: service.url,
      warehouse: warehouse(),
      at: '2025-03-06T02:00:00Z',
      websites: [ODD],
    });
    expect(receipt.websites).toMatchObject([{ status: 'committed', pages: { listed: 2 } }]);
    // The state is that of the night before: one page was indexed again, and none appeared.
    const changes = "select change from page_changes where change in ('appeared', 'indexed')";
    const { stdout: changed } = await run(['query', '--sql', changes, '--json', '--config', config]);
    expect(JSON.parse(changed)).toEqual([{ change: 'indexed' }]);
    if (atLength(true, false)) return;

    expect(await differences()).toEqual([]);
    expect((await run(['maintain', '--config', config])).code).toBe(0);

    expect((await restore()).code).toBe(0);
    expect(data()).toHaveLength(4);
    expect(await differences()).toEqual([]);
    expect((await run(['query', '--sql', sql, '--config', config])).stderr).not.toContain('stayed in');
  });
});
