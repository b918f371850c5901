import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Simulator } from '../../src/app/demo/simulator/simulator.js';
import { run } from '../given/cli.js';
import { startSimulator } from '../given/client-clock.js';
import { writeConfig } from '../given/config-file.js';
import { temporaryFolder } from '../given/folder.js';
import { readTable } from '../given/parquet.js';

/** A service of its own for one website, which knows no other token than its own. */
async function serviceOf(id: string): Promise<Simulator> {
  const keys = [{ token: `token-of-${id}`, label: id, websites: [id] }];
  const service = await startSimulator({ websites: [{ id, pages: 4 }], keys });
  return service;
}

test('websites of two services: each is asked for at its own address with its own token', async () => {
  const [one, two] = [await serviceOf('one'), await serviceOf('two')];
  const folder = temporaryFolder();
  const configured = (token = 'token-of-two') => {
    const websites = ['one', { id: 'two', base_url: two.url, token }];
    return writeConfig(folder, { baseUrl: one.url, token: 'token-of-one', websites });
  };
  const config = configured();
  const doctor = await run(['doctor', '--config', config]);
  expect(doctor.stdout).toContain('two: readable, 4 pages');

  const answered = [one, two].map(({ requests }) => requests.answered);
  expect((await run(['sync', '--config', config])).code).toBe(0);
  // A window and four reports each.
  expect([one, two].map(({ requests }, at) => requests.answered - (answered[at] ?? 0))).toEqual([5, 5]);
  expect(await readTable(join(folder, 'warehouse'), 'snapshots')).toHaveLength(2);

  const refused = await run(['sync', '--config', configured('wrong'), '--json']);
  const [, failed] = JSON.parse(refused.stdout).websites;
  expect(failed.error).toContain('check websites[1].token (and');
  await two.close();
  const down = await run(['doctor', '--config', configured()]);
  expect(down.stdout).toMatch(/two: the connection to .* failed.*\n.*check websites\[1\]\.base_url/);
  expect(down.stdout).toContain('one: readable');
});
