import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { Preparation } from '../../src/dashboard/prepare.js';
import { LiveReader } from '../../src/store/live-reader.js';
import { atLength, testAtLength } from '../given/at-length.js';
import { temporaryFolder } from '../given/folder.js';
import { type ScriptedService, startScriptedService } from '../given/service.js';
import { syncAt } from '../given/warehouse.js';
import { type Dashboard, ONLY_TOKEN, shopPages, startDashboard } from './given.js';
import { rowsOf, Visitor } from './visitor.js';

const SHOP = '/dashboard/websites/shop';
/** Longer than what was seen of a warehouse is believed. */
const LATER_MS = 60_000;

let service: ScriptedService;
let reader: LiveReader;
let dashboard: Dashboard;
let visitor: Visitor;
let clock = 0;
const warehouse = `${temporaryFolder(afterAll)}/warehouse`;

async function night(number: number): Promise<void> {
  service.list('shop', shopPages(number));
  const sections = { quality: { max_reject_ratio: 1 } };
  await syncAt({ baseUrl: service.baseUrl, warehouse, at: `2025-03-0${number}T02:00:00Z`, sections });
  clock += LATER_MS;
}

beforeAll(async () => {
  service = await startScriptedService();
  await night(1);
  reader = new LiveReader({ warehouse, memoryLimit: 256_000_000 }, () => clock);
  dashboard = await startDashboard(warehouse, { reader });
  visitor = new Visitor(dashboard.origin);
  await visitor.signIn(ONLY_TOKEN);
});
afterAll(async () => {
  await dashboard.close();
  reader.close();
  await service.close();
});

/** How many questions a piece of work asked. */
async function questionsOf(work: () => Promise<unknown>): Promise<number> {
  const asked = vi.spyOn(reader, 'ask');
  await work();
  const { length } = asked.mock.calls;
  asked.mockRestore();
  return length;
}

test('what was asked is not asked again until the next commit', async () => {
  const indexed = async () => rowsOf(await visitor.get(`${SHOP}/pages?indexed=yes&per=200`), 'pages').length;
  expect(await questionsOf(indexed)).toBe(1);
  expect(await questionsOf(indexed)).toBe(0);
  expect(await questionsOf(() => visitor.get(`${SHOP}/pages?indexed=no&per=200`))).toBe(1);
  expect(await indexed()).toBe(86);
  await night(2);
  expect(await questionsOf(indexed)).toBe(1);
  expect(await indexed()).toBe(77);
});

testAtLength('what people look at first is prepared once for each commit, and makes no visitor wait', async () => {
  const preparation = new Preparation(reader);
  const prepare = () => preparation.prepare(new AbortController().signal);
  const views = async () => {
    for (const path of ['', '?days=90', '/changes', '/pages', '/compare']) {
      expect((await visitor.get(SHOP + path)).status).toBe(200);
    }
  };
  for (const number of atLength([3], [3, 4])) {
    await night(number);
    expect(await questionsOf(() => Promise.all([prepare(), prepare()]))).toBe(7);
    expect(await questionsOf(prepare)).toBe(0);
    expect(await questionsOf(views)).toBe(0);
  }
});

testAtLength('what could not be prepared is tried again, a few times', async () => {
  await night(5);
  const always = vi.spyOn(reader, 'ask').mockRejectedValue(new Error('busy'));
  const inVain = new Preparation(reader);
  for (let times = 0; times < 10; times++) await inVain.prepare(new AbortController().signal);
  expect(always).toHaveBeenCalledTimes(3 * 7);
  always.mockRestore();
  const preparation = new Preparation(reader);
  const prepare = () => preparation.prepare(new AbortController().signal);
  const failing = vi.spyOn(reader, 'ask').mockRejectedValue(new Error('busy'));
  await prepare();
  failing.mockRestore();
  expect(await questionsOf(prepare)).toBe(7);
  expect(await questionsOf(prepare)).toBe(0);
});
