import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { run } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { temporaryFolder } from '../../given/folder.js';
import { type ScriptedService, startService, windowOf } from '../../given/service.js';
import { filesBelow } from '../../given/thinned.js';
import { syncWebsite } from '../../given/warehouse.js';

const TOKEN = 'tok-7Kf9-secret-value-0123456789';
const HOSTILE = 'https://w.example/"a",b\u009b31m\u202e=1';
const PAGES = [HOSTILE, ...Array.from({ length: 29 }, (_, at) => `https://w.example/p${at}`)];

let folder: string;
let config: string;
let service: ScriptedService;

beforeAll(async () => {
  folder = temporaryFolder();
  service = await startService({ w: { listing: (window) => windowOf(PAGES, window) } });
  await syncWebsite({
    baseUrl: service.url,
    warehouse: join(folder, 'warehouse'),
    at: '2025-03-01T02:00:00Z',
    sections: { api: { token: TOKEN } },
  });
  const sections = { api: { requests_per_minute: 10 }, reports: { max_per_run: 20 } };
  config = writeConfig(folder, { baseUrl: service.url, token: TOKEN, websites: ['w'], sections });
  service.requests.length = 0;
});

describe('indexhouse plan', () => {
  test('asks nothing, writes nothing, and shows hostile addresses harmlessly', async () => {
    const before = filesBelow(join(folder, 'warehouse'));
    const shown = await run(['plan', '--config', config]);
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(shown.stdout).toMatch(/^The next run takes 21 requests: 1 for the listing, 20 for reports\./);
    expect(shown.stdout).toContain('At 10 requests a minute that is 2m 6s: started now, it ends at');
    expect(shown.stdout).toContain('10 reports of 30 are left for later nights because of reports.max_per_run.');
    expect(shown.stdout).toContain('Everything is fresh after 2 nights like this one, that of ');
    expect(shown.stdout).toContain('https://w.example/"a",b\\x9b31m\\u202e=1');
    expect(shown.stdout).not.toMatch(/[\u009b\u202e]/);
    expect(shown.stdout).not.toContain(TOKEN);
    expect(filesBelow(join(folder, 'warehouse'))).toEqual(before);
    expect(service.requests).toEqual([]);
  });

  test('does not call everything fresh while a website has no snapshot yet', async () => {
    const sections = { reports: { priority: { never: ['*'] } }, warehouse: { path: join(folder, 'warehouse') } };
    const planned = async (...websites: string[]) => {
      const file = writeConfig(temporaryFolder(), { baseUrl: service.url, token: TOKEN, websites, sections });
      return (await run(['plan', '--config', file])).stdout;
    };
    expect(await planned('w')).toContain('Everything is fresh: no report is due.');
    const text = await planned('w', 'new');
    expect(text).toContain('new: no snapshot yet');
    expect(text).not.toContain('Everything is fresh');
  });

  test('refuses websites that are not configured, and needs no token', async () => {
    const unknown = await run(['plan', '--config', config, '--website', 'x']);
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('no website "x" in the configuration') });
    const file = join(folder, 'tokenless.yaml');
    writeFileSync(file, readFileSync(config, 'utf8').replace(TOKEN, '$' + '{NO_SUCH_TOKEN}'));
    expect(await run(['plan', '--config', file])).toMatchObject({ code: 0 });
  });
});
