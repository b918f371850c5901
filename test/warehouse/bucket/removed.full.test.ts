import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { environmentOf, type GivenBucket, startBucket } from '../../given/bucket.js';
import { copiedFiles, page } from '../../given/bucket-copy.js';
import { run } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { temporaryFolder } from '../../given/folder.js';
import { startService } from '../../given/service.js';

const EVERYTHING = 'select count(*)::int as n, bit_xor(hash(columns(*)::text)) from';
let server: GivenBucket;
let folder = '';
let config = '';

beforeEach(async () => {
  server = await startBucket({ prefix: '/nights' });
  const service = await startService();
  onTestFinished(async () => {
    await Promise.all([server.close(), service.close()]);
  });
  folder = temporaryFolder();
  config = writeConfig(folder, { baseUrl: service.url, sections: { bucket: server.config } });
  for (const pages of [[page('p')], [page('p'), page('q')], [page('q')]]) {
    service.list('shop', pages);
    service.list('blog', [page('b')]);
    expect((await run(['sync', '--config', config])).code).toBe(0);
  }
});

const env = () => ({ ...environmentOf(server.config), XDG_CACHE_HOME: folder });
async function answers(...place: string[]): Promise<string[]> {
  const tables = ['pages', 'page_changes', 'coverage', 'url_reports', 'snapshots', 'runs'];
  const asked: string[] = [];
  for (const table of tables) {
    const words = ['query', '--sql', `${EVERYTHING} ${table}`, '--json', '--log-level', 'error', ...place];
    const { code, stdout, stderr } = await run(words, { env: env() });
    expect([code, stderr]).toEqual([0, '']);
    asked.push(stdout);
  }
  return asked;
}
const here = () => answers('--config', config);
const there = () => answers('--warehouse', 's3://lake/nights');

test('a website that is removed leaves the bucket and its copies, even if the bucket is away then', async () => {
  const before = await there();
  expect(before).toEqual(await here());
  server.fault = (request) => (/^(PUT|DELETE)/.test(request) ? '403 AccessDenied' : null);
  const removed = await run(['remove', '--website', 'shop', '--yes', '--config', config]);
  expect(removed).toMatchObject({ code: 3, stderr: expect.stringContaining('the bucket could not catch up') });
  const status = await run(['status', '--config', config]);
  expect(status).toMatchObject({ code: 3, stdout: expect.stringContaining('the bucket still has what was removed') });
  server.fault = null;
  expect((await run(['sync', '--config', config])).code).toBe(0);
  expect((await run(['status', '--config', config])).stdout).not.toContain('still has');
  const after = await here();
  expect(after).not.toEqual(before);
  expect(await there()).toEqual(after);
  const local = copiedFiles(join(folder, 'warehouse'));
  const stored = [...server.objects.keys()].map((key) => key.replace('nights/', ''));
  expect(stored.filter((key) => !/^(lease|state)/.test(key) && !local.has(key))).toEqual([]);
  const verified = await run(['verify', '--config', config]);
  expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining('no differences found') });
});
