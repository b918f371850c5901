import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { DAY_MS, HOUR_MS } from '../../../src/base/time.js';
import { atLength } from '../../given/at-length.js';
import { run, start } from '../../given/cli.js';
import { temporaryFolder } from '../../given/folder.js';

const startedSchema = z.object({ control_url: z.string(), night: z.number(), now: z.iso.datetime() });
const googleSchema = z.object({ endpoint: z.string(), credentials: z.string() });
const PAGES = ['--port', '0', '--json', '--pages', '3'];

/** What a simulator says when it starts, and after a night more. */
async function simulated(...words: string[]) {
  const running = start(['simulate', ...PAGES, ...words]);
  await running.spoken;
  const started = startedSchema.parse(JSON.parse(running.printed()));
  const answer = await fetch(`${started.control_url}/advance?nights=1`, { method: 'POST' });
  const later = startedSchema.omit({ control_url: true }).parse(await answer.json());
  running.kill('SIGTERM');
  expect(await running.ended).toMatchObject({ code: 0 });
  return { started, later };
}

test('a simulated world has reached this hour after its nights, and each night more is a day later', async () => {
  const before = Date.now();
  const { started, later } = await simulated('--nights', '30');
  const now = Date.parse(started.now);
  expect(started.night).toBe(30);
  expect(now).toBeGreaterThan(before - HOUR_MS);
  expect(now).toBeLessThanOrEqual(Date.now());
  expect([later.night, Date.parse(later.now) - now]).toEqual([31, DAY_MS]);
});

test('--start says when the first night is', async () => {
  const { started, later } = await simulated('--nights', '2', '--start', '2026-01-01T02:00:00Z');
  expect([started.now, later.now]).toEqual(['2026-01-03T02:00:00.000Z', '2026-01-04T02:00:00.000Z']);
});

test('--source google prints credentials that its endpoint accepts, and removes them in the end', async () => {
  const running = start(['simulate', '--port', '0', '--json', '--pages', '3', '--source', 'google']);
  await running.spoken;
  const { endpoint, credentials } = googleSchema.parse(JSON.parse(running.printed()));
  const sites = await fetch(`${endpoint}/webmasters/v3/sites`, { headers: { authorization: 'Bearer demo-token' } });
  const siteEntry = [{ siteUrl: 'sc-domain:example.com', permissionLevel: 'siteOwner' }];
  expect([await sites.json(), existsSync(credentials)]).toEqual([{ siteEntry }, true]);
  running.kill('SIGTERM');
  expect(await running.ended).toMatchObject({ code: 0 });
  expect(existsSync(credentials)).toBe(false);
});

test.each(atLength(['api'], ['api', 'google']))(
  '--write-config (%s) gives syncs the dates of the simulated nights, today at last',
  async (source) => {
    const cwd = temporaryFolder();
    const config = join(cwd, 'sim.yaml');
    writeFileSync(config, 'mine');
    const words = ['simulate', ...PAGES, '--source', source, '--write-config', 'sim.yaml'];
    expect(await run(words, { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no simulator wrote it'),
    });
    expect(readFileSync(config, 'utf8')).toBe('mine');
    rmSync(config);
    const running = start(words, { cwd });
    await running.spoken;
    const { control_url: control, now } = startedSchema.parse(JSON.parse(running.printed()));
    expect(Date.now() - Date.parse(now)).toBeGreaterThanOrEqual(30 * DAY_MS);
    const night = (later: number) => new Date(Date.parse(now) + later * DAY_MS).toISOString().slice(0, 10);
    for (const nights of [1, 29]) {
      expect(await run(['sync', '-c', config], { cwd })).toMatchObject({ code: 0 });
      const planned = (await run(['sync', '--dry-run', '-c', config, '--json'], { cwd })).stdout;
      expect(planned).toContain(`"planned_at": "${night(nights === 1 ? 0 : 1)}`);
      await fetch(`${control}/advance?nights=${nights}`, { method: 'POST' });
    }
    const { stdout } = await run(['query', 'indexing_trend', '-c', config, '--json'], { cwd });
    expect(JSON.parse(stdout)).toMatchObject([{ snapshot_date: night(0) }, { snapshot_date: night(1) }]);
    expect(await run(['status', '-c', config], { cwd })).toMatchObject({ code: 0 });
    expect((await run(['doctor', '-c', config], { cwd })).stdout).toMatch(/✓ clock +agrees/);
    writeFileSync(
      config,
      readFileSync(config, 'utf8').replaceAll('127.0.0.1', 'api.example.com').replaceAll('http:', 'https:'),
    );
    expect((await run(['sync', '-c', config], { cwd })).stderr).toContain('is for a simulator');
    running.kill('SIGTERM');
    expect(await running.ended).toMatchObject({ code: 0 });
    // An earlier simulator's file is replaced.
    const again = start(words, { cwd });
    await again.spoken;
    again.kill('SIGTERM');
    expect(await again.ended).toMatchObject({ code: 0 });
  },
);
