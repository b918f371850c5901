import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../given/cli.js';
import { startSimulator } from '../given/client-clock.js';
import { writeConfig } from '../given/config-file.js';
import { temporaryFolder } from '../given/folder.js';
import { readTable } from '../given/parquet.js';

test('websites with a token of their own are asked for with it', async () => {
  const ids = ['one', 'two'];
  const keys = ids.map((id) => ({ token: `token-of-${id}`, label: id, websites: [id] }));
  const service = await startSimulator({ websites: ids.map((id) => ({ id, pages: 4 })), keys });
  const folder = temporaryFolder();
  const configured = (token = 'token-of-two') =>
    writeConfig(folder, { baseUrl: service.url, token: 'token-of-one', websites: ['one', { id: 'two', token }] });
  const config = configured();
  expect((await run(['doctor', '--config', config])).stdout).toContain('two: readable, 4 pages');
  expect((await run(['sync', '--config', config])).code).toBe(0);
  expect(await readTable(join(folder, 'warehouse'), 'snapshots')).toHaveLength(2);

  const refused = await run(['sync', '--config', configured('wrong'), '--json']);
  const [, failed] = JSON.parse(refused.stdout).websites;
  expect(failed.error).toContain('check websites[1].token (and');
});
