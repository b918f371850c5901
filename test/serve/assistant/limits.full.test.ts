import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { runSql } from '../../../src/serve/assistant/run-sql.js';
import { addKey } from '../../../src/serve/keys/manage-keys.js';
import { start } from '../../given/cli.js';
import { temporaryFolder } from '../../given/folder.js';
import { buildWarehouse, sharedWarehouse } from '../../given/warehouse.js';
import { asking, ENDLESS, NIGHTS } from './given.js';

const built = sharedWarehouse(() => buildWarehouse(NIGHTS));

it.each([ENDLESS, "select repeat('x', 1000000000)", 'select * from range(300000000) t(r) order by hash(r)'])(
  'ends by a limit: %s',
  async (sql) => {
    const request = { warehouse: built.path, websites: null, sql, limit: 10, offset: 0 };
    const run = runSql(request, new AbortController().signal, { memoryLimit: 256_000_000, timeLimitMs: 2000 });
    await expect(run).rejects.toThrow(/^query_sql: (the statement need(s|ed)|stopped after 2 s: select fewer rows)/);
  },
);

it('a server that is killed takes its question with it, and leaves nothing', async () => {
  const folder = temporaryFolder();
  const { token } = await addKey(built.path, { label: 'other', websites: ['other'] });
  const env = { TMPDIR: folder };
  const running = start(['serve', '--json', '--port', '0', '--warehouse', built.path], { env });
  await running.spoken;
  const asked = asking(JSON.parse(running.printed()).base_url, token, ENDLESS).catch(() => null);
  const folders = () => readdirSync(folder).filter((name) => name.startsWith('indexhouse-sql-'));
  // Until its process has begun: what is killed before that has nobody to clean up after it.
  const begun = () => folders().flatMap((name) => readdirSync(join(folder, name)));
  await vi.waitFor(() => expect(begun()).not.toEqual([]), { timeout: 30_000 });
  running.kill('SIGKILL');
  await Promise.all([asked, running.ended]);
  await vi.waitFor(() => expect(folders()).toEqual([]), { timeout: 30_000 });
});
