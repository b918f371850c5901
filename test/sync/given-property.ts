import { setImmediate } from 'node:timers/promises';
import { type SearchConsoleOptions, startSearchConsole } from '../../src/app/demo/search-console/search-console.js';
import { DAY_MS } from '../../src/base/time.js';
import { realRunEffects } from '../../src/sync/context.js';
import { temporaryFolder } from '../given/folder.js';
import { Home } from '../given/home.js';
import { noFollowers } from '../given/warehouse.js';

export const PROPERTY = 'sc-domain:example.com';
const FIRST_NIGHT_MS = Date.parse('2026-01-01T10:00:00.000Z');

type OnFinished = (clean: () => void | Promise<void>) => void;
interface Given extends SearchConsoleOptions {
  pages?: number;
  /** Keys of the website's entry in the configuration. */
  entry?: object;
  /** Keys of `google` in the configuration. */
  settings?: object;
}

/** A simulated property on loopback that a configuration names. Its nights are a day apart, for those who sync it, too. */
export async function givenProperty(
  onFinished: OnFinished,
  { pages = 120, entry = {}, settings = {}, ...options }: Given = {},
) {
  const began = Date.now();
  let passed = 0;
  const now = () => FIRST_NIGHT_MS + passed + (Date.now() - began);
  const service = await startSearchConsole({
    start: new Date(FIRST_NIGHT_MS).toISOString(),
    websites: [{ id: 'w', pages }],
    inspectionsPerMinute: 1e6,
    queriesPerMinute: 1e6,
    clock: now,
    ...options,
  });
  onFinished(() => service.close());
  const google = {
    credentials: await service.credentials(),
    endpoint: service.url,
    requests_per_minute: 100_000,
    ...settings,
  };
  // Nobody waits for a minute to pass.
  const sleep = async (ms: number) => {
    const until = now() + ms;
    await setImmediate();
    passed += Math.max(0, until - now());
  };
  const pass = (days = 1) => {
    passed += days * DAY_MS;
    service.advance(days);
  };
  const websites = [{ id: PROPERTY, source: 'google', ...entry }];
  const effects = { ...realRunEffects, now, sleep, follow: noFollowers };
  const sections = { google, reports: { refresh_after: '30d' } };
  const home = new Home(temporaryFolder(onFinished), service, websites, sections, effects);
  return { home, service, pass, now };
}
