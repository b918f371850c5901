import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startBucket } from '../../given/bucket.js';
import { copiedFiles, page } from '../../given/bucket-copy.js';
import { run } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { temporaryFolder } from '../../given/folder.js';
import { startService } from '../../given/service.js';

test('a website that is removed leaves the bucket, even if it cannot be reached then', async () => {
  const [server, service] = [await startBucket({ prefix: '/nights' }), await startService()];
  const folder = temporaryFolder();
  const config = writeConfig(folder, { baseUrl: service.url, sections: { bucket: server.url } });
  const indexhouse = (line: string) => run([...line.split(' '), '--config', config]);
  service.list('shop', [page('p')]);
  service.list('blog', [page('b')]);
  expect((await indexhouse('sync')).code).toBe(0);
  server.fault = (request) => (/^(PUT|DELETE)/.test(request) ? '403 AccessDenied' : null);
  const removed = await indexhouse('remove --website shop --yes');
  expect(removed).toMatchObject({ code: 3, stderr: expect.stringContaining('the bucket could not catch up') });
  const status = await indexhouse('status');
  expect(status).toMatchObject({ code: 3, stdout: expect.stringContaining('the bucket still has what was removed') });
  server.fault = null;
  expect((await indexhouse('sync')).code).toBe(0);
  expect((await indexhouse('status')).stdout).not.toContain('still has');
  // `sync` has listed both again.
  expect((await indexhouse('remove --website shop --yes')).code).toBe(0);
  const local = copiedFiles(join(folder, 'warehouse'));
  const stored = [...server.objects.keys()].map((key) => key.replace('nights/', ''));
  expect(stored.filter((key) => !/^(owner|state)/.test(key) && !local.has(key))).toEqual([]);
  expect(stored.filter((key) => key.includes('website=shop'))).toEqual([]);
  expect(stored.filter((key) => key.includes('website=blog'))).not.toEqual([]);
  const verified = await indexhouse('verify');
  expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining('no differences found') });
});
