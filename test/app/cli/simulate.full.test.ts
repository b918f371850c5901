import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { DAY_MS, HOUR_MS } from '../../../src/base/time.js';
import { run } from '../../given/cli.js';
import { temporaryFolder } from '../../given/folder.js';

const startedSchema = z.object({
  control_url: z.string(),
  night: z.number(),
  now: z.iso.datetime(),
});
const laterSchema = startedSchema.pick({ night: true, now: true });
type Started = z.infer<typeof startedSchema> & { advance(nights: number): Promise<z.infer<typeof laterSchema>> };

/** Runs a simulator for as long as this lasts. */
async function simulating(words: string[], use: (started: Started) => Promise<void>, cwd = temporaryFolder()) {
  const stop = new AbortController();
  const args = ['simulate', '--port', '0', '--json', '--pages', '3', ...words];
  let ended: ReturnType<typeof run> | undefined;
  const printed = await new Promise<string>((resolve) => {
    ended = run(args, { cwd, signal: stop.signal, onPrinted: resolve });
  });
  const started = startedSchema.parse(JSON.parse(printed));
  const advance = async (nights: number) => {
    const answer = await fetch(`${started.control_url}/advance?nights=${nights}`, { method: 'POST' });
    return laterSchema.parse(await answer.json());
  };
  await use({ ...started, advance }).finally(() => stop.abort());
  expect(await ended).toMatchObject({ code: 0 });
}

test('a simulated world has reached this hour after its nights, and each night more is a day later', async () => {
  await simulating(['--nights', '30'], async ({ night, now, advance }) => {
    expect(night).toBe(30);
    expect(Math.abs(Date.now() - Date.parse(now))).toBeLessThan(HOUR_MS + 60_000);
    expect(await advance(1)).toEqual({ night: 31, now: new Date(Date.parse(now) + DAY_MS).toISOString() });
  });
});

test('--write-config gives syncs the dates of the simulated nights, today at last, and replaces no other file', async () => {
  const cwd = temporaryFolder();
  const config = join(cwd, 'sim.yaml');
  const words = ['--write-config', 'sim.yaml'];
  const command = (...given: string[]) => run([...given, '-c', config], { cwd });
  const use = async ({ now, advance }: Started) => {
    const night = (later: number) => new Date(Date.parse(now) + later * DAY_MS).toISOString().slice(0, 10);
    expect(await command('sync')).toMatchObject({ code: 0 });
    await advance(30);
    expect(await command('sync')).toMatchObject({ code: 0 });
    expect(Math.abs(Date.now() - Date.parse(now) - 30 * DAY_MS)).toBeLessThan(HOUR_MS + 60_000);
    const { stdout } = await command('query', 'indexing_trend', '--json');
    expect(JSON.parse(stdout)).toMatchObject([{ snapshot_date: night(0) }, { snapshot_date: night(30) }]);
    const written = readFileSync(config, 'utf8');
    writeFileSync(config, written.replaceAll('127.0.0.1', 'api.example.com').replaceAll('http:', 'https:'));
    expect((await command('sync')).stderr).toContain('is for a simulator');
  };
  await simulating(words, use, cwd);
  writeFileSync(config, 'mine');
  const refused = expect.stringContaining('no simulator wrote it');
  expect(await run(['simulate', ...words], { cwd })).toMatchObject({ code: 2, stderr: refused });
  expect(readFileSync(config, 'utf8')).toBe('mine');
});
