import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { expect, it } from 'vitest';
import { Documented } from '../given/documented.js';
import { serveWarehouse } from '../given/served.js';
import { buildWarehouse } from '../given/warehouse.js';

const GUIDE = new URL('../../docs/service.md', import.meta.url);
const ADDRESS = 'http://127.0.0.1:8090';
const WEBSITE = '645f2e5cd8cd9b7bd8b55ab1';
/** Says what it was called with instead of asking anybody. */
const CURL = 'curl() { printf "%s\\0" "$@"; printf "\\n"; }\n';

/** What each `curl` of the guide asks. */
function commands(): { url: string; headers: Record<string, string> }[] {
  const blocks = [...readFileSync(GUIDE, 'utf8').matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block);
  const asked = blocks.join('\n').match(/^curl (?:.*\\\n)*.*$/gm) ?? [];
  const { stdout } = spawnSync('sh', ['-c', CURL + asked.join('\n')], {
    encoding: 'utf8',
    env: { ...process.env, INDEXHOUSE_KEY: 'reader' },
  });
  return stdout
    .split('\0\n')
    .slice(0, -1)
    .map((line) => asRequest(line.split('\0')));
}

function asRequest(args: string[]): ReturnType<typeof commands>[number] {
  const options = {
    header: { type: 'string', short: 'H', multiple: true },
  } as const;
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
  const headers = (values.header ?? []).map((each) => each.split(': '));
  return { url: positionals[0] ?? '', headers: Object.fromEntries(headers) };
}

it('every curl of the guide to the service is answered as the OpenAPI document says', async () => {
  const pages = ['https://www.example.com/', 'https://www.example.com/blog/'].map((url) => ({ url }));
  const built = await buildWarehouse([{ at: '2026-01-30T02:00:00Z', lists: { [WEBSITE]: pages } }]);
  const served = await serveWarehouse({
    warehouse: built.path,
    now: () => Date.parse('2026-02-01T00:00:00Z'),
    keys: { reader: [WEBSITE] },
  });
  const documented = await Documented.of(served.baseUrl);
  const asked = commands();
  expect(asked.length).toBeGreaterThan(1);
  for (const { url, headers } of asked) {
    const path = url.replace(ADDRESS, '');
    const answer = await fetch(served.baseUrl + path, { headers });
    expect([path, answer.status]).toEqual([path, 200]);
    documented.check(path, answer, await answer.json());
  }
});
