import { beforeAll, expect, test } from 'vitest';
import { websiteIds } from '../../../src/base/config/websites.js';
import { run } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { temporaryFolder } from '../../given/folder.js';
import { keyTo, type ScriptedService, startService, TOKEN } from '../../given/service.js';

const ID = 'shop';
const NAME = 'https://shop.example';

let config: string;
let service: ScriptedService;
let cwd: string;
/** What the key may read; none: it is refused. */
let readable = [ID];

beforeAll(async () => {
  cwd = temporaryFolder();
  const v1 = () => (readable.length === 0 ? { status: 401, body: '{}' } : { body: JSON.stringify(keyTo(readable)) });
  service = await startService({ v1: { listing: v1 } });
  service.list(ID, [{ url: `${NAME}/a` }]);
  const sections = { warehouse: { path: `${cwd}/warehouse` } };
  config = writeConfig(cwd, { baseUrl: service.url, token: TOKEN, sections });
  expect(await ran('sync', '--max-reports', '0')).toMatchObject({ code: 0 });
  readable.push('blog');
  service.list('blog', [{ url: 'https://blog.example/a' }]);
});

function ran(command: string, ...words: string[]) {
  return run([...command.split(' '), '--config', config, ...words], { cwd });
}

test('a website is taken by its name, and known ones are suggested', async () => {
  const { code, stdout } = await ran('keys add', '--json', '--label', 'reader', '--website', NAME);
  expect([code, JSON.parse(stdout).websites]).toEqual([0, [ID]]);
  const refused = await ran('keys add', '--label', 'reader', '--website', 'https://shp.example');
  const about =
    /^indexhouse: no website "https:\/\/shp.example" in .+\. Did you mean:\n {2}shop {2}https:\/\/shop.example\n/;
  expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(about) });
});

test('an id wins over a name, and a name of several websites is refused', () => {
  const known = [
    { id: 'a', name: 'b' },
    { id: 'b', name: 'twin' },
    { id: 'c', name: 'twin' },
    { id: 'c', name: 'earlier' },
  ];
  expect(websiteIds(['b', 'earlier', 'c'], known, 'the warehouse')).toEqual(['b', 'c']);
  const several = 'several websites in the warehouse are called "twin"; give the id:\n  b  twin\n  c  twin';
  expect(() => websiteIds(['twin'], known, 'the warehouse')).toThrow(several);
});

test('where the configuration says all, websites are found and named by name, also if the service does not', async () => {
  const name = 'https://blog.example';
  const planned = await ran('sync', '--dry-run', '--website', name);
  expect(planned).toMatchObject({ code: 2, stderr: expect.stringContaining('in the warehouse. It has:\n  shop') });
  const synced = await ran('sync', '--json', '--max-reports', '0', '--website', name);
  expect(JSON.parse(synced.stdout)).toMatchObject({ websites: [{ website_id: 'blog' }] });
  readable = [];
  const refused = await ran('sync', '--log-level', 'silent');
  expect(refused.code).toBe(1);
  expect(refused.stdout.match(/^https:\/\/\S+/gm)).toEqual([NAME, name]);
  expect(refused.stdout).toMatch(/^! https:\/\/shop.example, .*: the last run got no snapshot: .*401/m);
});
