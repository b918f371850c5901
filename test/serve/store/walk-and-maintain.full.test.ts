import { expect, it } from 'vitest';
import { serveWarehouse } from '../../given/served.js';
import { at, buildNights, HOUR_MS, maintainAt, NOW } from '../../given/thinned.js';
import { entryWindow } from '../client.js';

it('a walk goes on while its files are there, even when retention puts its listing out of use meanwhile', async () => {
  const { path: warehouse } = await buildNights([1, 2, 3, 9], { withBlog: false });
  /** Each with nothing in memory yet. */
  const serving = async () => {
    const { get } = await serveWarehouse({ warehouse, now: () => NOW, keys: { k: ['shop'] } });
    const read = async (path: string | null | undefined) => entryWindow.parse(await (await get(path ?? '')).json());
    return { get, read };
  };
  let { get, read } = await serving();

  const whole = await read('/v1/urls/shop?as_of=2025-01-03');
  const first = await read('/v1/urls/shop?as_of=2025-01-03&limit=1');
  await maintainAt(warehouse);
  ({ get, read } = await serving());
  const second = await read(first.pagination.next_page);
  const third = await read(second.pagination.next_page);
  expect([first, second, third].flatMap(({ urls }) => urls)).toEqual(whole.urls.slice(0, 3));
  expect(third.pagination.count).toBe(whole.pagination.count);
  // Who begins now sees what is kept: the night before.
  const kept = await read('/v1/urls/shop?as_of=2025-01-03');
  expect(kept.urls.find(({ url }) => url === at('shop', 'e'))?.index_coverage_state).toBe('before');

  await maintainAt(warehouse, { now: NOW + 2 * HOUR_MS });
  ({ get, read } = await serving());
  expect((await get(third.pagination.next_page ?? '')).status).toBe(404);
  // What retention deleted is no damage.
  expect(await (await get('/healthz')).json()).toMatchObject({ unreadable_files: 0 });
});
