import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, test, vi } from 'vitest';
import { programName } from '../../../src/app/cli/io.js';
import type { PropertyOptions } from '../../../src/app/demo/search-console/properties.js';
import { startSearchConsole } from '../../../src/app/demo/search-console/search-console.js';
import { loadConfig } from '../../../src/base/config/load.js';
import { run } from '../../given/cli.js';
import { temporaryFolder } from '../../given/folder.js';

async function init(args: string[], env: Record<string, string> = {}, cwd = temporaryFolder()) {
  const { code, stdout, stderr } = await run(['init', ...args], { cwd, env });
  return { cwd, code, printed: stdout, stderr };
}

it('writes the file and says what comes next', async () => {
  const { cwd, printed } = await init([]);
  const file = join(cwd, 'indexhouse.yaml');
  expect(await readFile(file, 'utf8')).toContain('base_url:');
  expect(printed).toContain(`Wrote ${file}\n`);
  expect(printed).toMatch(/export INDEXHOUSE_TOKEN=…[\s\S]+indexhouse doctor\n/);
});

it('takes --config or INDEXHOUSE_CONFIG, and asks for no token that is set', async () => {
  const { printed } = await init(['--config', "my 'own.yaml"]);
  expect(printed).toContain(`indexhouse doctor --config 'my '\\''own.yaml'`);
  const { cwd, printed: other } = await init([], { INDEXHOUSE_CONFIG: 'x.yaml', INDEXHOUSE_TOKEN: 'hush-hush' });
  expect(other).toContain(join(cwd, 'x.yaml'));
  expect(other).not.toMatch(/export|hush/);
});

test('commands are shown as they can be typed: by name if installed, else with the folder', () => {
  const folder = join('/home', 'me', 'indexhouse');
  const program = (script: string, cwd: string) => programName({ script, folder, cwd });
  expect(program(folder, folder)).toBe('node .');
  expect(program(join(folder, 'dist/src/app/cli/indexhouse.cjs'), join(folder, 'indexhouse-demo'))).toBe('node ..');
  expect(program(folder, '/home/me')).toBe('node indexhouse');
  expect(program('/usr/local/bin/indexhouse', '/home/me')).toBe('indexhouse');
});

describe('init --source google', () => {
  const BLOG = 'https://blog.other.example/';
  const READABLE = [{ siteUrl: BLOG }, { siteUrl: 'https://www.example.com/' }];
  async function given(typed?: string[], words: string[] = [], properties: PropertyOptions[] = READABLE) {
    const google = await startSearchConsole({ websites: [{ id: 'w', pages: 3 }], properties });
    onTestFinished(() => google.close());
    vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', await google.credentials());
    onTestFinished(() => void vi.unstubAllEnvs());
    const cwd = temporaryFolder();
    const env = { INDEXHOUSE_GOOGLE_ENDPOINT: google.url };
    const ended = await run(['init', '--source', 'google', ...words], { cwd, env, ...(typed ? { typed } : {}) });
    const websites = async () => (await loadConfig({ env, cwd })).websites;
    return { ...ended, websites };
  }

  it('lists the readable properties without those that others cover, and writes all or the chosen ones', async () => {
    const { stdout, websites } = await given([''], ['--yes']);
    expect(stdout).toContain(
      `  1  sc-domain:example.com  (with the quota of https://www.example.com/, which it covers)\n  2  ${BLOG}\n`,
    );
    expect(stdout).not.toMatch(/Edit the file|login/);
    expect(await websites()).toMatchObject([{ id: 'sc-domain:example.com', properties: 'auto' }, { id: BLOG }]);
    expect(await (await given(['2'])).websites()).toMatchObject([{ id: BLOG, source: 'google', sitemaps: 'auto' }]);
    expect(await (await given([''])).websites()).toHaveLength(2);
  });

  const UNVERIFIED: PropertyOptions[] = [{ siteUrl: 'sc-domain:example.com', permissionLevel: 'siteUnverifiedUser' }];
  it.each([
    ['a number that is none of them', ['3'], READABLE, 2, '"3" names no number from 1 to 2'],
    ['no terminal', undefined, READABLE, 2, 'take all with --yes'],
    ['an input that ends, as with Ctrl-C', [], READABLE, 130, ''],
    ['no readable property', undefined, UNVERIFIED, 1, 'can read no property, so nothing was written: sign in'],
  ])('writes nothing after %s', async (_, typed, properties, code, said) => {
    const ended = await given(typed, [], properties);
    expect([ended.code, ended.stderr]).toEqual([code, expect.stringContaining(said)]);
    await expect(ended.websites()).rejects.toThrow('there is no such file');
  });

  it('without an account it writes an example, and says why and how to sign in', async () => {
    vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', '/nowhere/key.json');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { code, printed, stderr, cwd } = await init(['--source', 'google']);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/names no property of yours: .* holds no credentials/)]);
    expect(printed).toMatch(/1\. Sign in: +indexhouse login --client client_secret.json\n +2\. Edit the file/);
    expect(await readFile(join(cwd, 'indexhouse.yaml'), 'utf8')).toContain('  - id: "sc-domain:example.com" # or');
  });
});
