import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { run } from '../../given/cli.js';
import { startSimulator } from '../../given/client-clock.js';
import { writeConfig } from '../../given/config-file.js';
import { temporaryFolder } from '../../given/folder.js';
import { syncNow } from '../../given/synced.js';

describe('indexhouse status', () => {
  test('of a folder that does not exist exits with 2, of one without snapshots with 3', async () => {
    const warehouse = join(temporaryFolder(), 'warehouse');
    const missing = await run(['status', '--warehouse', warehouse]);
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('no warehouse at ') });
    mkdirSync(warehouse);
    const empty = await run(['status', '--warehouse', warehouse]);
    expect(empty).toMatchObject({ code: 3, stdout: expect.stringContaining('No snapshots yet') });
  });

  test('before the first sync, or without its disk, is not green, and makes no folder', async () => {
    const folder = temporaryFolder();
    const file = writeConfig(folder, { websites: ['site-a'] });
    const status = await run(['status', '--config', file]);
    const next = '`indexhouse sync` creates the first one';
    expect(status).toMatchObject({ code: 3, stdout: expect.stringContaining(`No snapshots yet. ${next}.`) });
    expect(await run(['status', '--config', file, '--quiet'])).toMatchObject({ code: 0, stdout: '', stderr: '' });
    expect(readdirSync(folder)).toEqual(['indexhouse.yaml']);
  });

  test('shows a failed website plainly and exits with 1, without a token and without the service', async () => {
    const upstream = await startSimulator({
      websites: ['site-a', 'site-b'].map((id) => ({ id, pages: 10 })),
      keys: [{ token: 'demo-token', label: 'tests', websites: ['site-a'] }],
    });
    const folder = temporaryFolder();
    const file = writeConfig(folder, { baseUrl: upstream.url, websites: ['site-a', 'site-b'] });
    await syncNow(file);
    const brief = await run(['status', '--config', file]);
    expect(await run(['status', '--config', file, '--quiet'])).toMatchObject({ code: 1, stdout: '', stderr: '' });
    const failed =
      /^Last night needs attention: 1 of 2 websites \(1 failed\)\.\n\n! site-b: the last run got no snapshot: /;
    expect(brief).toMatchObject({ code: 1, stdout: expect.stringMatching(failed) });
    const { stdout: shown } = await run(['status', '--config', file, '--verbose']);
    expect(shown).toMatch(/site-a .*complete +10 +10 +0 +10 of 10 +committed/);
    expect(shown).toMatch(/site-b +never .*FAILED/);
    const { code, stdout } = await run(['status', '--warehouse', join(folder, 'warehouse'), '--json']);
    const websites = [{ last_run: { outcome: 'committed' } }, { last_snapshot: null, last_run: { outcome: 'failed' } }];
    expect([code, JSON.parse(stdout)]).toMatchObject([1, { exit_code: 1, websites, running: null, unfinished: [] }]);
  });
});
