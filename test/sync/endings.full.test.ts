import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { statusInputOf } from '../../src/answers/status/status-input.js';
import type { Config } from '../../src/base/config/schema.js';
import { addKey } from '../../src/serve/keys/manage-keys.js';
import { realRunEffects } from '../../src/sync/context.js';
import { startReceiver } from '../app/notify/given.js';
import { type Ended, type RunOptions, run } from '../given/cli.js';
import { writeConfig } from '../given/config-file.js';
import { ENDINGS, type Ending, FACES, PAGES } from '../given/endings.js';
import { atEnd, temporaryFolder } from '../given/folder.js';
import { serviceOver } from '../given/served.js';
import { pagesOf, startService, windowOf } from '../given/service.js';
import { given } from '../given/synced.js';
import { givenSchemas } from '../given/warehouse.js';

const LISTED = pagesOf('w', PAGES);

/** A website behind a service that answers as an ending has it, and what its channels got. */
async function worldOf({ listing, report, sections = {}, clockAhead = 0 }: Ending) {
  const folder = temporaryFolder();
  const warehouse = join(folder, 'warehouse');
  await givenSchemas(warehouse);
  const receiver = await startReceiver();
  let [asked, stopAfter] = [0, Number.POSITIVE_INFINITY];
  const stop = { now: () => {} };
  const service = await startService(
    {
      w: {
        listing: (window) => {
          const date = new Date(Date.now() + clockAhead).toUTCString();
          return listing?.(window) ?? { ...windowOf(LISTED, window), headers: { date } };
        },
        report: (url) => {
          if (++asked >= stopAfter) stop.now();
          return report?.(LISTED.indexOf(url)) ?? { body: JSON.stringify({ url, index_summary: 'Indexed' }) };
        },
      },
    },
    atEnd,
    5,
  );
  const channels = [
    { type: 'ping', url: `${receiver.url}/ping` },
    { type: 'webhook', url: `${receiver.url}/hook` },
  ];
  const api = { concurrency: 4, ...sections['api'] };
  const file = writeConfig(folder, {
    baseUrl: service.url,
    websites: ['w'],
    sections: { ...sections, api, notify: { channels, except: ['drift'] } },
  });
  const command = (name: string, flags: readonly string[], options: RunOptions = {}) =>
    run([name, '--config', file, '--log-level', 'warn', ...flags], options);
  const sync = async (most = Number.POSITIVE_INFINITY): Promise<Ended> => {
    const controller = new AbortController();
    [asked, stopAfter, stop.now] = [0, most, () => controller.abort()];
    const ended = await command('sync', [], { signal: controller.signal });
    stopAfter = Number.POSITIVE_INFINITY;
    return ended;
  };
  return { file, warehouse, receiver, command, sync };
}

/** What `serve` says at `/healthz` to a stranger, and to a key of all websites. */
async function healthOf(warehouse: string, config: Config) {
  const { token } = await addKey(warehouse, { label: 'monitoring', websites: 'all' });
  const service = await serviceOver(warehouse, {}, { status: statusInputOf(config) });
  onTestFinished(() => service.close());
  const get = async (headers = {}) => {
    const answer = await fetch(`${service.url}/healthz`, { headers });
    return [answer.status, await answer.json()];
  };
  return { stranger: await get(), key: await get({ authorization: `Bearer ${token}` }) };
}

test.each(ENDINGS)('if $name, every face says the same: exit code $exitCode', async (ending) => {
  const { exitCode, notices, says = '', flags = [] } = ending;
  const usual = { ...realRunEffects };
  onTestFinished(() => void Object.assign(realRunEffects, usual));
  // Retries take no time.
  Object.assign(realRunEffects, { sleep: async () => {}, ...ending.effects });
  const isGreen = exitCode === 0;
  const { file, warehouse, receiver, command, sync } = await worldOf(ending);
  await ending.before?.({ warehouse, sync });
  receiver.take();
  const ended = await command('sync', flags);
  expect(ended.code).toBe(exitCode);
  const lastLine = ended.stdout.trimEnd().split('\n').at(-1) ?? '';
  expect(lastLine.startsWith(FACES[exitCode].lastLine)).toBe(true);
  expect(lastLine.includes(`(exit code ${exitCode})`)).toBe(!isGreen);
  expect(ended.stderr).toContain(says);
  expect(isGreen ? ended.stderr : '').toBe('');
  const got = receiver.take();
  const ping = flags.includes('--recover') ? [] : ['/ping/start', `/ping${FACES[exitCode].ping}`];
  expect(got.map(({ path }) => path).filter((path) => path !== '/hook')).toEqual(ping);
  const sent = got.flatMap(({ path, body }) => (path === '/hook' ? JSON.parse(body).notices : []));
  expect(sent.map(({ kind }) => kind)).toEqual(notices);
  expect(sent.every(({ what }) => what.includes(says))).toBe(true);
  const status = await command('status', ['--json']);
  const { exit_code, warnings } = JSON.parse(status.stdout);
  expect([status.code, exit_code, warnings.length > 0]).toEqual([exitCode, exitCode, !isGreen]);
  expect(warnings.join('\n')).toContain(says);
  const { status: answered, says: word } = FACES[exitCode].health;
  expect(await healthOf(warehouse, await given(file))).toEqual({
    stranger: [answered, { status: isGreen ? 'ok' : 'not ok' }],
    key: [answered, expect.objectContaining({ status: word })],
  });
});
