import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { type GivenBucket, startBucket } from '../../given/bucket.js';
import { copiedFiles, page } from '../../given/bucket-copy.js';
import { run } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { temporaryFolder } from '../../given/folder.js';
import { startService } from '../../given/service.js';

const TABLES = ['pages', 'page_changes', 'coverage', 'url_reports', 'snapshots', 'runs'];
const EVERYTHING = `select ${TABLES.map((table) => `(select bit_xor(hash(t::text)) from ${table} as t)`).join(', ')}`;
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
  config = writeConfig(folder, { baseUrl: service.url, sections: { bucket: server.url } });
  for (const pages of [[page('p')], [page('p'), page('q')], [page('q')]]) {
    service.list('shop', pages);
    service.list('blog', [page('b')]);
    expect((await run(['sync', '--config', config])).code).toBe(0);
  }
});

/** What a folder holds. */
async function answer(...place: string[]): Promise<string> {
  const words = ['query', '--sql', EVERYTHING, '--json', '--log-level', 'error', ...place];
  const { code, stdout, stderr } = await run(words);
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
}
const here = () => answer('--config', config);
/** The same of what is restored now. */
async function there(): Promise<string> {
  const copy = join(temporaryFolder(), 'copy');
  expect(await run(['restore', '--config', config, '--warehouse', copy])).toMatchObject({ code: 0 });
  return answer('--warehouse', copy);
}

test('a website that is removed leaves the bucket, even if it cannot be reached then', async () => {
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
  expect(stored.filter((key) => !/^(owner|state)/.test(key) && !local.has(key))).toEqual([]);
  const verified = await run(['verify', '--config', config]);
  expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining('no differences found') });
});
