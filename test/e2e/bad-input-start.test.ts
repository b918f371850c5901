import { describe, expect } from 'vitest';
import { once } from '../given/at-length.js';
import { run } from '../given/cli.js';
import { writeConfig } from '../given/config-file.js';
import { temporaryFolder } from '../given/folder.js';
import { startService } from '../given/service.js';

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
