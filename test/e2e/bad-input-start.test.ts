import { describe, expect } from 'vitest';
import { once, testAtLength } from '../given/at-length.js';
import { run, start } from '../given/cli.js';
import { writeConfig } from '../given/config-file.js';
import { temporaryFolder } from '../given/folder.js';
import { pagesOf, startService, windowOf } from '../given/service.js';

describe('a key', () => {
  once('whose websites the service does not list fails the run', async () => {
    const service = await startService({ v1: { listing: () => ({ body: '<html></html>' }) } });
    const file = writeConfig(temporaryFolder(), { baseUrl: service.url });
    const { code, stdout, stderr } = await run(['sync', '--json', '--config', file]);
    const why = /does not list the key's websites \(Invalid input.*\); check api\.base_url, or list the ids/;
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ websites: [], error: expect.stringMatching(why) });
    expect(stderr).toMatch(why);
  });
});

testAtLength('a process that waits for a throttled key stops on SIGTERM, and asks for no report again', async () => {
  const service = await startService({
    w: {
      listing: (window) => windowOf(pagesOf('w', 5), window),
      report: () => ({ status: 429, headers: { 'retry-after': '3000' } }),
    },
  });
  const file = writeConfig(temporaryFolder(), { baseUrl: service.url, websites: ['w'] });
  const running = start(['sync', '--json', '--config', file]);
  await expect.poll(() => running.logged(), { timeout: 60_000 }).toContain('one request probes');
  running.kill('SIGTERM');
  // Whoever waited for the service would be here for 50 minutes.
  const { code, stderr } = await running.ended;
  expect(code).toBe(130);
  expect(stderr).toContain('the next `indexhouse sync` resumes');
  const asked = service.requests.filter((path) => path.includes('url-report'));
  expect(new Set(asked).size).toBe(asked.length);
});
