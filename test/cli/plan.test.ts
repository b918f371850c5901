import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { planText } from '../../src/cli/plan-output.js';
import type { Forecast } from '../../src/forecast/forecast.js';
import { contentsOf, plan } from '../forecast/given.js';
import { run } from '../given/cli.js';
import { writeConfig } from '../given/config-file.js';
import { temporaryFolder } from '../given/folder.js';
import { type OddService, startOddService, windowOf } from '../given/odd-service.js';
import { syncOne } from '../given/sync-one.js';

const TOKEN = 'tok-7Kf9-secret-value-0123456789';
const HOSTILE = 'https://w.example/"a",b\u009b31m\u202e=1';
const PAGES = [HOSTILE, ...Array.from({ length: 29 }, (_, at) => `https://w.example/p${at}`)];

const cleanings: (() => void)[] = [];
let folder: string;
let config: string;
let service: OddService;

beforeAll(async () => {
  folder = temporaryFolder((clean) => cleanings.push(clean));
  service = await startOddService({ w: { listing: (window) => windowOf(PAGES, window) } });
  await syncOne({
    baseUrl: service.url,
    warehouse: join(folder, 'warehouse'),
    at: '2025-03-01T02:00:00Z',
    token: TOKEN,
  });
  const sections = { api: { requests_per_minute: 10 }, reports: { max_per_run: 20 } };
  config = writeConfig(folder, { baseUrl: service.url, token: TOKEN, websites: ['w'], sections });
  service.requests.length = 0;
});

afterAll(async () => {
  await service.close();
  for (const clean of cleanings) clean();
});

/** What does not depend on the moment. */
function timeless(json: string): Partial<Forecast> {
  const { planned_at: _at, next_nightly_sync: _next, totals, keys, ...rest }: Forecast = JSON.parse(json);
  return { ...rest, totals: { ...totals, ends_at: null }, keys: keys.map((key) => ({ ...key, ends_at: null })) };
}

describe('indexhouse plan', () => {
  test('asks nothing, writes nothing but the CSV, and shows hostile addresses harmlessly', async () => {
    const before = contentsOf(join(folder, 'warehouse'));
    const out = join(folder, 'plan.csv');
    const shown = await run(['plan', '--config', config, '--out', out]);
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(shown.stdout).toMatch(/^30 pages at 10 requests a minute: 1 request \(6s\) lists them, 30 \(3m\) fetch/);
    expect(shown.stdout).toContain('after 2m 6s: it does not reach 10 reports because of reports.max_per_run.');
    expect(shown.stdout).toMatch(/Not reached of w: 10 oldest; the first of them: https:\/\/w\.example\/p\d+ /);
    expect(shown.stdout).toContain('https://w.example/"a",b\\x9b31m\\u202e=1');
    expect(shown.stdout).not.toMatch(/[\u009b\u202e]/);
    expect(shown.stdout).not.toContain(TOKEN);
    const lines = readFileSync(out, 'utf8').split('\r\n');
    expect([lines[0], lines.length]).toEqual(['website_id,place,url,reason,report_age_days,reached', 32]);
    expect(lines[1]).toMatch(/^w,1,"https:\/\/w\.example\/""a"",b\u009b31m\u202e=1",oldest,\d+,true$/);
    expect(lines.filter((line) => line.endsWith(',false'))).toHaveLength(10);
    expect(contentsOf(join(folder, 'warehouse'))).toEqual(before);
    expect((await run(['plan', '--config', config, '--out', '-'])).stdout).toBe(readFileSync(out, 'utf8'));
    const again = await run(['plan', '--config', config, '--out', out]);
    expect(again).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('--force') });
    expect(service.requests).toEqual([]);
  });

  test('before the first snapshot names every page of the listing, in the order of the run', async () => {
    const home = temporaryFolder();
    const sections = {
      api: { requests_per_minute: 'unlimited', page_size: 10 },
      reports: { max_per_run: 20, priority: { first: ['*/p7'], never: ['*/p8'] } },
      warehouse: { path: join(home, 'none') },
    };
    const first = writeConfig(home, { baseUrl: service.url, token: TOKEN, websites: ['w'], sections });
    const out = join(home, 'plan.csv');
    const { stdout, code } = await run(['plan', '--config', first, '--out', out, '--json']);
    const [, ...lines] = readFileSync(out, 'utf8').trimEnd().split('\r\n');
    const rest = PAGES.filter((url) => !/p[78]$/.test(url)).sort();
    expect(code).toBe(0);
    expect(lines.map((line) => line.replaceAll('""', '"').replace('"https', 'https').replace('=1"', '=1'))).toEqual(
      ['https://w.example/p7', ...rest].map((url, at) => `w,${at + 1},${url},new,,${at < 20}`),
    );
    expect(JSON.parse(stdout)).toMatchObject({ requests_sent: service.requests.length, totals: { pages: 30 } });
    expect(service.requests.length).toBeGreaterThan(3);
    expect(existsSync(join(home, 'none'))).toBe(false);
    service.requests.length = 0;
  });

  test('is what sync --dry-run prints for the same flags', async () => {
    const before = contentsOf(join(folder, 'warehouse'));
    const flags = ['--config', config, '--json', '--website', 'w', '--max-reports', '7', '--deadline', '1m'];
    const [planned, dry] = [await run(['plan', ...flags]), await run(['sync', '--dry-run', ...flags])];
    expect([planned.code, dry.code]).toEqual([0, 0]);
    expect(planned.stdout).not.toMatch(/[\u009b\u202e]/);
    expect(timeless(dry.stdout)).toEqual(timeless(planned.stdout));
    expect(JSON.parse(dry.stdout)).toMatchObject({
      max_reports: 7,
      deadline_seconds: 60,
      totals: { requests: 8, duration_seconds: 48, reached: { total: 7 } },
      // The job takes no flags.
      next_nightly_sync: { ends_at: null },
    });
    expect(contentsOf(join(folder, 'warehouse'))).toEqual(before);
    expect(service.requests).toEqual([]);
  });

  test('refuses websites that are not configured, and needs no token to ask nothing', async () => {
    const unknown = await run(['plan', '--config', config, '--website', 'x']);
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('no website "x" in the configuration') });
    const file = join(folder, 'tokenless.yaml');
    writeFileSync(file, readFileSync(config, 'utf8').replace(TOKEN, '$' + '{NO_SUCH_TOKEN}'));
    const offline = await run(['plan', '--config', file, '--offline']);
    expect(offline).toMatchObject({ code: 0, stdout: expect.stringContaining('No token available') });
  });
});

describe('the text of a plan', () => {
  test('fits into 80 columns, and says what is only guessed', async () => {
    const sections = { api: { requests_per_minute: 1 }, schedule: { time_zone: 'Europe/Berlin' } };
    const at = new Date('2025-03-03T02:00:00Z');
    const { forecast } = await plan({ warehouse: join(folder, 'warehouse'), at, sections });
    const text = planText(forecast, { width: 80, withoutTokens: false, out: undefined });
    expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
    expect(text).toContain('so changes cannot be estimated: w');
    expect(text).toMatch(/oldest +2 days +https:\/\/w\.example\/p0/);
    const flowing = text.replaceAll('\n', ' ');
    expect(flowing).toContain('now ends at 2025-03-03 03:31 (Europe/Berlin), after 31m, with all reports');
    expect(flowing).toContain(
      'starts at 2025-03-20 03:00 (Europe/Berlin) and ends at 2025-03-20 03:31 (Europe/Berlin)',
    );
  });

  test('of websites that nobody knows tells what to do', async () => {
    const warehouse = join(folder, 'none');
    const given = { warehouse, at: new Date(), input: { ask: 'never' as const } };
    const text = async (websites?: string[]) => {
      const { forecast } = await plan({ ...given, ...(websites ? { websites } : {}) });
      return planText(forecast, { width: undefined, withoutTokens: false, out: undefined });
    };
    expect(await text(['w'])).toBe('w: no snapshot yet: leave out --offline to ask how many pages it has.\n');
    expect(await text()).toMatch(/^No snapshot yet: leave out --offline/);
  });
});
