import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { DAY_MS, HOUR_MS } from '../../../src/base/time.js';
import { start } from '../../given/cli.js';

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
