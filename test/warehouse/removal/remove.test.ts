import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { LiveReader } from '../../../src/serve/store/live-reader.js';
import { RunLock } from '../../../src/warehouse/log/lock.js';
import { atLength, describeAtLength, seeds } from '../../given/at-length.js';
import { run } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { contentOf } from '../../given/content.js';
import { copyOf, temporaryFolder } from '../../given/folder.js';
import { type Nights, urlOf } from '../../given/nights.js';
import { seededRandom } from '../../given/random.js';
import { startService } from '../../given/service.js';
import { buildNights, filesBelow, maintainAt } from '../../given/thinned.js';
import { findingsOf } from '../../given/verified.js';
import { sharedWarehouse, syncAt } from '../../given/warehouse.js';
import { randomNight, removeNow, warehouseOf } from './removed.js';

const BASE_URL = 'http://127.0.0.1:1';
const NIGHTS = atLength(3, 4);
/** One between others, two in a row, the first, the newest; then at random. */
const GONE = [[2], [2, 3], [1], [NIGHTS]];

const ofBlog = (warehouse: string) =>
  readdirSync(warehouse, { recursive: true, encoding: 'utf8' }).filter((path) => path.includes('blog'));

async function snapshotOf(warehouse: string, website: string, date: string): Promise<string> {
  const [file = ''] = readdirSync(join(warehouse, 'parquet', 'snapshots', `website=${website}`, `date=${date}`));
  return file.replace('.parquet', '');
}

test.for(seeds(1, 0.16))('a removed snapshot leaves the warehouse as if it had never been (seed %i)', async (seed) => {
  const random = seededRandom(seed);
  const nights = Array.from({ length: NIGHTS }, () => randomNight(random));
  const gone = GONE[seed - 1] ?? [1 + Math.floor(random() * NIGHTS)];
  const whole = await warehouseOf(nights, [], onTestFinished);
  for (const night of gone) await removeNow(whole.warehouse, { snapshot: whole.snapshot(night) });
  expect(await findingsOf(whole.warehouse)).toEqual([]);
  const never = await warehouseOf(nights, gone, onTestFinished);
  expect(await contentOf(whole.warehouse, true)).toEqual(await contentOf(never.warehouse, true));
  const ask = ({ warehouse }: Nights) => run(['query', 'index_balance', '--json', '--warehouse', warehouse]);
  expect(await ask(whole)).toEqual(await ask(never));
});

describeAtLength('with two websites, `shop` and `blog`,', () => {
  /** Two websites, `shop` and `blog`. */

  const built = sharedWarehouse(() => buildNights([1, 3, 5, 18], { followed: 'followed' }));

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

  test('a removed snapshot does not leave a running service degraded that was just reading it', async () => {
    const { warehouse } = given();
    let now = 0;
    const reader = new LiveReader({ warehouse, memoryLimit: 256e6 }, () => now);
    onTestFinished(() => reader.close());
    const context = { keyId: 'key', signal: new AbortController().signal };
    const coverage = () => reader.ask(context, 'quick', (one) => one.rows(z.unknown(), 'select * from coverage'));
    const before = await coverage();
    await removeNow(warehouse, { snapshot: await snapshotOf(warehouse, 'shop', '2025-03-05') });
    await expect(coverage()).rejects.toThrow('cannot be read');
    expect(reader.unreadable()).toBe(1);
    now += 60_000;
    expect((await coverage()).length).toBeLessThan(before.length);
    expect(reader.unreadable()).toBe(0);
  });

  test('a removed snapshot stays if retention removed what its followers would be derived from', async () => {
    const { warehouse } = given();
    await maintainAt(warehouse);
    const before = filesBelow(warehouse);
    for (const date of ['2025-03-01', '2025-03-18']) {
      const removal = removeNow(warehouse, { snapshot: await snapshotOf(warehouse, 'shop', date) });
      await expect(removal).rejects.toMatchObject({
        exitCode: 2,
        message: expect.stringContaining('that retention removed'),
      });
    }
    expect(filesBelow(warehouse)).toEqual(before);
    const service = await startService();
    service.list('shop', [{ url: urlOf('a') }]);
    await syncAt({
      baseUrl: service.url,
      warehouse,
      at: '2025-03-21T02:00:00Z',
      websites: ['shop'],
      followed: 'followed',
    });
    await removeNow(warehouse, { snapshot: await snapshotOf(warehouse, 'shop', '2025-03-21') });
    expect(await findingsOf(warehouse)).toEqual([]);
  });

  test('`indexhouse remove` changes nothing unless confirmed', async () => {
    const { warehouse, indexhouse } = given();
    const before = filesBelow(warehouse);
    const refused: [line: string, message: RegExp, typed?: string[]][] = [
      ['remove --website blog', /nothing was removed; --yes/],
      ['remove --website blog --json', /nothing was removed; --yes/],
      ['remove --website blog', /nothing was removed; --yes/, ['no']],
      ['remove --website blogg --yes', /no website "blogg" in the warehouse. Did you mean:\n {2}blog {2}/],
      [
        'remove --snapshot 2025-03-05 --yes',
        /no snapshot "2025-03-05" .* Did you mean:\n( {2}\S+ {2}2025-03-05 {2}\w+\n){2}$/,
      ],
      ['remove --yes', /one of --website and --snapshot/],
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
