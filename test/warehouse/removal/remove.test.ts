import { copyFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { LiveReader } from '../../../src/serve/store/live-reader.js';
import { listTableFiles } from '../../../src/warehouse/log/folder/layout.js';
import { RunLock } from '../../../src/warehouse/log/lock.js';
import { verifyWarehouse } from '../../../src/warehouse/upkeep/verify/verify.js';
import { describeAtLength } from '../../given/at-length.js';
import { run } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { contentOf } from '../../given/content.js';
import { copyOf, temporaryFolder } from '../../given/folder.js';
import { buildNights, filesBelow } from '../../given/thinned.js';
import { findingsOf } from '../../given/verified.js';
import { sharedWarehouse } from '../../given/warehouse.js';
import { removeNow } from './removed.js';

const BASE_URL = 'http://127.0.0.1:1';
const DAYS = [1, 3, 5, 18];

const ofBlog = (warehouse: string) =>
  readdirSync(warehouse, { recursive: true, encoding: 'utf8' }).filter((path) => path.includes('blog'));

test('a removed website leaves the warehouse as if it had never been', async () => {
  const given = await buildNights(DAYS, { followed: 'followed' });
  const [file = ''] = await listTableFiles(given.path, 'coverage', { websiteId: 'blog' });
  copyFileSync(file, join(dirname(file), '0198c0de-0000-7000-8000-000000000000.parquet'));
  const { repaired } = await verifyWarehouse({ warehouse: given.path, memoryLimit: 256e6 }, true);
  expect(repaired).toEqual([expect.stringContaining('set-aside')]);
  await removeNow(given.path, 'blog');
  expect([ofBlog(given.path), await findingsOf(given.path)]).toEqual([[], []]);
  const never = await buildNights(DAYS, { withBlog: false });
  expect(await contentOf(given.path, true)).toEqual(await contentOf(never.path, true));
});

describeAtLength('with two websites, `shop` and `blog`,', () => {
  const built = sharedWarehouse(() => buildNights(DAYS, { followed: 'followed' }));

  /** A copy of the two websites, and the command with a configuration for it. */
  function given(websites = ['shop'], sections = {}) {
    const warehouse = copyOf(built.path);
    const given = { baseUrl: BASE_URL, websites, sections: { ...sections, warehouse: { path: warehouse } } };
    const config = writeConfig(temporaryFolder(), given);
    return {
      warehouse,
      indexhouse: (line: string, typed?: string[]) => run([...line.split(' '), '-c', config], typed && { typed }),
    };
  }

  test('a removed website does not leave a running service degraded that was just reading it', async () => {
    const { warehouse } = given();
    let now = 0;
    const reader = new LiveReader({ warehouse, memoryLimit: 256e6 }, () => now);
    onTestFinished(() => reader.close());
    const context = { keyId: 'key', signal: new AbortController().signal };
    const coverage = () => reader.ask(context, 'quick', (one) => one.rows(z.unknown(), 'select * from coverage'));
    const before = await coverage();
    await removeNow(warehouse, 'blog');
    await expect(coverage()).rejects.toThrow('cannot be read');
    expect(reader.unreadable()).toBe(1);
    now += 60_000;
    expect((await coverage()).length).toBeLessThan(before.length);
    expect(reader.unreadable()).toBe(0);
  });

  test('`indexhouse remove` changes nothing unless confirmed', async () => {
    const { warehouse, indexhouse } = given();
    const before = filesBelow(warehouse);
    const refused: [line: string, message: RegExp, typed?: string[]][] = [
      ['remove --website blog', /nothing was removed; --yes/],
      ['remove --website blog --json', /nothing was removed; --yes/],
      ['remove --website blog', /nothing was removed; --yes/, ['no']],
      ['remove --website blogg --yes', /no website "blogg" in the warehouse. Did you mean:\n {2}blog {2}/],
      ['remove --yes', /required option '-w, --website <id>' not specified/],
    ];
    for (const [line, message, typed] of refused) {
      expect(await indexhouse(line, typed)).toMatchObject({ code: 2, stderr: expect.stringMatching(message) });
    }
    const { stdout } = await indexhouse('remove --website blog --json');
    expect(JSON.parse(stdout)).toMatchObject({ website_id: 'blog', snapshots: 4, removed: false });
    const lock = await RunLock.take(warehouse, 'test');
    onTestFinished(() => lock.release());
    expect(await indexhouse('remove --website blog --yes')).toMatchObject({ code: 4 });
    expect(filesBelow(warehouse)).toEqual(before);
  });

  test('`indexhouse remove` says that the next sync brings a website back, and how to keep it away', async () => {
    const removal = async (websites: object) =>
      (await given([], { websites }).indexhouse('remove --website blog', ['no'])).stdout;
    const again = 'The next sync brings it back, with a new history: to keep it away,';
    expect(await removal({ all: true })).toContain(
      `${again} exclude it with \`websites: {all: true, except: ["blog"]}\`.`,
    );
    expect(await removal({ all: true, source: 'google' })).toContain('{all: true, source: google, except: ["blog"]}');
    expect(await removal([{ id: 'blog' }])).toContain(`${again} delete its entry under \`websites\`.`);
    expect(await removal({ all: true, except: ['blog'] })).not.toContain(again);
    const { stdout } = await given([], { websites: { all: true, except: ['blog'] } }).indexhouse('status');
    expect(stdout).toContain('blog is no longer configured');
  });

  test('`indexhouse remove` removes a website that is no longer configured', async () => {
    const { warehouse, indexhouse } = given();
    const backup = temporaryFolder();
    await indexhouse(`backup ${backup}`);
    const remedy = 'blog is no longer configured; `indexhouse remove --website blog` removes it';
    expect((await indexhouse('status')).stdout).toContain(remedy);
    expect((await indexhouse('remove --website blog', ['yes'])).code).toBe(0);
    expect([ofBlog(warehouse), await findingsOf(warehouse)]).toEqual([[], []]);
    expect((await indexhouse('status')).stdout).not.toContain('blog');
    expect(await indexhouse(`backup ${backup}`)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('new folder'),
    });
  });
});
