import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startSimulator } from '../../src/simulator/simulator.js';
import { testAtLength } from '../given/at-length.js';
import { type Ended, run, start } from '../given/cli.js';
import { writeConfig } from '../given/config-file.js';
import { temporaryFolder } from '../given/folder.js';
import { holdOpen } from '../given/holder.js';
import { pagesOf, startOddService, windowOf } from '../given/odd-service.js';
import { readTable } from '../given/parquet.js';

const API = 'api:\n  base_url: http://127.0.0.1:1\n  token: ';

async function syncWith(text: string | null, env: Record<string, string> = {}): Promise<Ended> {
  const cwd = temporaryFolder(onTestFinished);
  if (text !== null) writeFileSync(join(cwd, 'indexhouse.yaml'), text);
  return run(['sync', '--json', '--config', 'indexhouse.yaml'], { cwd, env });
}

describe('a configuration that cannot be used', () => {
  it.each<[string, string | null, Record<string, string>, RegExp]>([
    ['is missing', null, {}, /indexhouse\.yaml: there is no such file\. Run `indexhouse init`/],
    ['is no YAML', 'api: [\n', {}, /indexhouse\.yaml:\d+:\d+: /],
    ['is no mapping', '- api\n', {}, /indexhouse\.yaml:\d+:\d+: .*not a mapping/],
    [
      'names a variable that is not set',
      `${API}\${NO_SUCH_TOKEN}\n`,
      {},
      /indexhouse\.yaml:3:\d+: api\.token .*NO_SUCH_TOKEN/,
    ],
    [
      'names a variable that is empty',
      `${API}\${NO_SUCH_TOKEN}\n`,
      { NO_SUCH_TOKEN: '' },
      /indexhouse\.yaml:3:\d+: api\.token .*NO_SUCH_TOKEN/,
    ],
    [
      'has an unknown key',
      `${API}abc\n  page_sise: 3\n`,
      {},
      /indexhouse\.yaml:4:\d+: api\.page_sise is not a known key\. Did you mean `page_size`\?/,
    ],
    [
      'sends the token unencrypted',
      'api:\n  base_url: http://example.com\n  token: abc\n',
      {},
      /api\.base_url .*unencrypted/,
    ],
    [
      'is of another type',
      `${API}abc\n  concurrency: many\n`,
      {},
      /indexhouse\.yaml:4:\d+: api\.concurrency .*many.*Write a number/,
    ],
  ])('%s', async (_, text, env, message) => {
    const { code, stdout, stderr } = await syncWith(text, env);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(message);
  });

  it('names a website that is not configured', async () => {
    const cwd = temporaryFolder(onTestFinished);
    const file = writeConfig(cwd, { baseUrl: 'http://127.0.0.1:1', websites: ['one', 'two'] });
    const { code, stderr } = await run(['sync', '--config', file, '--website', 'three']);
    expect(code).toBe(2);
    expect(stderr).toContain('no website "three" in the configuration. It has:\n  one\n  two');
  });
});

describe('a key', () => {
  it('that is wrong stops everything, and says where to look', async () => {
    const simulator = await startSimulator({
      websites: [
        { id: 'one', pages: 5 },
        { id: 'two', pages: 5 },
      ],
    });
    onTestFinished(() => simulator.close());
    const cwd = temporaryFolder(onTestFinished);
    for (const websites of [undefined, ['one', 'two']]) {
      const file = writeConfig(cwd, {
        baseUrl: simulator.url,
        token: 'wrong-token-1234567',
        ...(websites ? { websites } : {}),
      });
      const { code, stdout, stderr } = await run(['sync', '--json', '--config', file]);
      expect(code).toBe(1);
      expect(stdout + stderr).toMatch(/401 .*the token is missing, wrong or expired: check api\.token/);
      expect(stdout + stderr).not.toContain('wrong-token-1234567');
    }
    expect(simulator.requests.attempted).toBeLessThanOrEqual(3);
  });

  it('that may not read one website reads the others', async () => {
    const simulator = await startSimulator({
      websites: [
        { id: 'mine', pages: 5 },
        { id: 'theirs', pages: 5 },
      ],
      keys: [{ token: 'narrow-token', label: 'narrow', websites: ['mine'] }],
    });
    onTestFinished(() => simulator.close());
    const cwd = temporaryFolder(onTestFinished);
    const file = writeConfig(cwd, {
      baseUrl: simulator.url,
      token: 'narrow-token',
      websites: ['mine', 'theirs', 'nobodys'],
    });
    const { code, stdout } = await run(['sync', '--json', '--config', file]);
    expect(code).toBe(1);
    expect(JSON.parse(stdout).websites).toMatchObject([
      { website_id: 'mine', status: 'committed', listing_status: 'complete', reports_status: 'complete' },
      {
        website_id: 'theirs',
        status: 'failed',
        error: expect.stringMatching(/403 .*grant it, or remove the website/),
      },
      {
        website_id: 'nobodys',
        status: 'failed',
        error: expect.stringMatching(/404 .*\/v1\/urls\/nobodys: check the id under websites/),
      },
    ]);
    expect((await readTable(join(cwd, 'warehouse'), 'coverage')).length).toBe(5);
  });

  it('whose websites the service does not tell', async () => {
    const service = await startOddService({ v1: { listing: () => ({ body: '<html></html>' }) } });
    onTestFinished(() => service.close());
    const file = writeConfig(temporaryFolder(onTestFinished), { baseUrl: service.url });
    const { code, stdout, stderr } = await run(['sync', '--json', '--config', file]);
    const why = /does not list the key's websites \(Invalid input.*\); check api\.base_url, or list the ids/;
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ websites: [], error: expect.stringMatching(why) });
    expect(stderr).toMatch(why);
  });

  testAtLength(
    'whose websites the service does not tell any more: a failed run of each that the warehouse knows',
    async () => {
      const simulator = await startSimulator({
        websites: [
          { id: 'one', pages: 2 },
          { id: 'two/ü', pages: 2 },
        ],
      });
      onTestFinished(() => simulator.close());
      const cwd = temporaryFolder(onTestFinished);
      const sync = (token: string) =>
        run(['sync', '--json', '--config', writeConfig(cwd, { baseUrl: simulator.url, token })]);
      expect((await sync('demo-token')).code).toBe(0);
      const { code, stdout, stderr } = await sync('revoked-token');
      expect(code).toBe(1);
      const failed = { status: 'failed', error: expect.stringMatching(/401 .*check api\.token/) };
      expect(JSON.parse(stdout).websites).toMatchObject([
        { website_id: 'one', ...failed },
        { website_id: 'two/ü', ...failed },
      ]);
      expect(stderr).toContain('401');
      const runs = await readTable(join(cwd, 'warehouse'), 'runs');
      expect(runs.map(({ website_id, outcome }) => `${website_id} ${outcome}`).sort()).toEqual([
        'one committed',
        'one failed',
        'two/ü committed',
        'two/ü failed',
      ]);
      expect((await run(['status', '--config', join(cwd, 'indexhouse.yaml')])).code).toBe(1);
    },
  );
});

it('a service that is not there fails the run, and the next one begins anew', async () => {
  const file = writeConfig(temporaryFolder(onTestFinished), {
    baseUrl: 'http://127.0.0.1:1',
    websites: ['w'],
    sections: { api: { max_attempts: 1 } },
  });
  const { code, stdout } = await run(['sync', '--json', '--config', file]);
  expect(code).toBe(1);
  expect(JSON.parse(stdout).websites[0].error).toMatch(
    /connection to http:\/\/127\.0\.0\.1:1 failed: .*ECONNREFUSED.*check the network and api\.base_url/,
  );
});

testAtLength('a warehouse that another process works on is left alone', async () => {
  const cwd = temporaryFolder(onTestFinished);
  const simulator = await startSimulator({ websites: [{ id: 'w', pages: 3 }] });
  onTestFinished(() => simulator.close());
  const file = writeConfig(cwd, { baseUrl: simulator.url, websites: ['w'] });
  expect((await run(['sync', '--json', '--config', file])).code).toBe(0);
  const holder = await holdOpen(join(cwd, 'warehouse', 'run.lock.duckdb'), 'READ_WRITE');
  const { code, stderr } = await run(['sync', '--json', '--config', file]);
  expect(code).toBe(4);
  expect(stderr).toContain(String(holder.pid));
});

testAtLength(
  'a process that waits for a throttled key ends when it is told to, and asks for no report again',
  async () => {
    const service = await startOddService({
      w: {
        listing: (window) => windowOf(pagesOf('w', 5), window),
        report: () => ({ status: 429, headers: { 'retry-after': '3000' } }),
      },
    });
    onTestFinished(() => service.close());
    const file = writeConfig(temporaryFolder(onTestFinished), { baseUrl: service.url, websites: ['w'] });
    const running = start(['sync', '--json', '--config', file]);
    await expect.poll(() => running.logged(), { timeout: 60_000 }).toContain('one request probes');
    running.kill('SIGTERM');
    // Whoever waited for the service would be here for 50 minutes.
    const { code, stderr } = await running.ended;
    expect(code).toBe(130);
    expect(stderr).toContain('the next `indexhouse sync` resumes');
    const asked = service.requests.filter((path) => path.includes('url-report'));
    expect(new Set(asked).size).toBe(asked.length);
  },
);
