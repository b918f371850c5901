import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/base/config/load.js';
import { failure, load, MINIMAL, refusal, TOKEN, tempFolder, withKey } from './given.js';

const REFERRING = 'api:\n  base_url: https://api.example.com\n  token: ${' + 'INDEXHOUSE_TOKEN}\n';

describe('precedence', () => {
  it('is flags, environment, file, defaults', async () => {
    const text = withKey('service', 'port: 10');
    const env = { INDEXHOUSE_SERVICE_PORT: '20' };
    expect((await load(MINIMAL)).service.port).toBe(8090);
    expect((await load(text)).service.port).toBe(10);
    expect((await load(text, env)).service.port).toBe(20);
    expect((await load(text, env, { service: { port: '30' } })).service.port).toBe(30);
    expect((await load(text, env, { service: { port: undefined } })).service.port).toBe(20);
  });

  it('reads secrets, paths and addresses from the environment, and nothing else', async () => {
    const config = await load('websites: all\n', {
      INDEXHOUSE_API_BASE_URL: 'http://localhost:1/',
      INDEXHOUSE_API_TOKEN: '12345',
      INDEXHOUSE_WAREHOUSE_PATH: '/srv/warehouse',
      INDEXHOUSE_BUCKET: 's3://lake/indexhouse',
      INDEXHOUSE_CONFIG: '',
      INDEXHOUSE_REPORTS_MAX_PER_RUN: '7',
    });
    expect(config).toMatchObject({
      api: { base_url: 'http://localhost:1', token: '12345' },
      reports: { max_per_run: Number.POSITIVE_INFINITY },
      warehouse: { path: '/srv/warehouse' },
      bucket: 's3://lake/indexhouse',
    });
  });

  it('names the variable or the command line for a bad value, and repeats none from the environment', async () => {
    const error = await failure(MINIMAL, { INDEXHOUSE_API_TOKEN: 'x 9 y' }, { api: { concurrency: 999 } });
    expect(error.problems).toMatchObject([
      { file: 'environment INDEXHOUSE_API_TOKEN', line: null, path: 'api.token' },
      { file: 'command line', line: null, path: 'api.concurrency' },
    ]);
    expect(error.message).not.toContain('x 9 y');
  });
});

describe('the file', () => {
  it('is named by the flag, else by INDEXHOUSE_CONFIG, and relative paths count from its folder', async () => {
    const cwd = await tempFolder();
    await mkdir(join(cwd, 'conf'));
    await writeFile(join(cwd, 'conf/a.yaml'), withKey('warehouse', 'path: ../data'));
    await writeFile(join(cwd, 'b.yaml'), withKey('warehouse', 'path: /srv/data'));
    const env = { INDEXHOUSE_CONFIG: 'conf/a.yaml' };
    const chosen = await loadConfig({ env, cwd });
    expect(chosen).toMatchObject({ file: join(cwd, 'conf/a.yaml'), warehouse: { path: join(cwd, 'data') } });
    const flagged = await loadConfig({ file: 'b.yaml', env, cwd });
    expect(flagged).toMatchObject({ file: join(cwd, 'b.yaml'), warehouse: { path: '/srv/data' } });
  });

  it('may be missing or a folder: each says so', async () => {
    const cwd = await tempFolder();
    const missing = await refusal(loadConfig({ env: {}, cwd }));
    expect(missing.message).toContain(join(cwd, 'indexhouse.yaml'));
    expect(missing.message).toContain('indexhouse init');
    expect((await refusal(loadConfig({ file: '.', env: {}, cwd }))).message).toContain('(EISDIR)');
  });

  it.each([
    ['', 'is empty', null],
    [`${MINIMAL}---\n${MINIMAL}`, 'not valid YAML', 4],
    [`${MINIMAL}  token: again\n`, 'a key twice', 4],
    [`${MINIMAL}\tx: 1\n`, 'tabs', 4],
  ])('refuses %j', async (text, words, line) => {
    const error = await failure(text);
    expect(error.message).toContain(words);
    expect(error.problems[0]).toMatchObject({ line });
  });

  it('refuses bytes that are not UTF-8, and takes a byte order mark', async () => {
    expect((await failure(Buffer.from([0x61, 0xff]))).message).toContain('not UTF-8');
    expect((await load(`\ufeff${MINIMAL}`)).api.token).toBe('abc');
  });

  it('refuses aliases, keys that are no text, and the key __proto__', async () => {
    const text = `${MINIMAL}reports: &r\n  deadline: 1h\nsync: *r\n? [a]\n: 1\n__proto__: {}\n`;
    const { problems } = await failure(text);
    expect(problems.map(({ message }) => message)).toEqual(
      expect.arrayContaining(['is an alias', 'a key here is not plain text', 'is not a known key']),
    );
    expect(problems.map(({ path }) => path)).toContain('__proto__');
  });
});

it('all problems are listed at once, in the order of the file, each with its place and remedy', async () => {
  const error = await failure(
    'api:\n  base_url: nowhere\n  concurrency: 0\n  max_per_run: 5\nwebsite: all\nreports:\n  dead-line: 5h\nsync: 6h\n',
  );
  expect(error.problems.map(({ line, column, path }) => `${line}:${column} ${path}`)).toEqual([
    ...['1:1 api.token', '2:13 api.base_url', '3:16 api.concurrency', '4:3 api.max_per_run', '5:1 website'],
    ...['7:3 reports.dead-line', '8:7 sync'],
  ]);
  expect(error.message).toMatch(/indexhouse\.yaml:3:16: api\.concurrency is not .*\. Write/);
  expect(error.message).toContain('Did you mean `websites`?');
  expect((await failure(withKey('sync', 'zebra: 1'))).message).toContain('known keys here: clock');
  expect(error.problems.every(({ remedy }) => remedy.endsWith('.') || remedy.endsWith('?'))).toBe(true);
});

describe('references to the environment', () => {
  it('are filled in, also within text, are not looked for in what they gave, and can be escaped', async () => {
    const env = { INDEXHOUSE_TOKEN: '${' + 'HOME}', WHERE: 'data' };
    const { api, warehouse } = await load(`${REFERRING}warehouse:\n  path: /srv/\${WHERE}/\${WHERE}/$\${X}\n`, env);
    expect([api.token, warehouse.path]).toEqual(['${' + 'HOME}', '/srv/data/data/${' + 'X}']);
  });

  it.each([
    [{}, 'not set'],
    [{ INDEXHOUSE_TOKEN: '' }, 'empty'],
  ])('that lead nowhere are errors which name the variable: %j', async (env, words) => {
    const error = await failure(`${REFERRING}  concurrency: 0\n`, env as Record<string, string>);
    expect(error.problems).toMatchObject([
      { path: 'api.token', line: 3, column: 10 },
      { path: 'api.concurrency', line: 4 },
    ]);
    expect(error.message).toContain(`variable INDEXHOUSE_TOKEN, which is ${words}`);
  });

  it('do not matter where a flag or a variable overrides them', async () => {
    expect((await load(REFERRING, { INDEXHOUSE_API_TOKEN: 'v' })).api.token).toBe('v');
    expect((await load(REFERRING, {}, { api: { token: 'f' } })).api.token).toBe('f');
  });

  it.each(['{}', '{A-b}', '{A'])('are malformed: $%s', async (reference) => {
    expect((await failure(withKey('warehouse', `path: "$${reference}"`))).message).toContain('name of a variable');
  });
});

describe('a token', () => {
  it.each([`${TOKEN}\n`, `${TOKEN}\u0007`, `${TOKEN}ü`])('such as %j is refused without being shown', async (token) => {
    const error = await failure(REFERRING, { INDEXHOUSE_TOKEN: token });
    expect(error.problems).toMatchObject([{ path: 'api.token' }]);
    expect(error.message).not.toContain('tok-7');
  });

  it.each([
    ['broken syntax around it', `api:\n  token: "${TOKEN}\n  base_url: x\n`],
    ['a doubled key', `api:\n  token: ${TOKEN}\n  token: ${TOKEN}\n`],
    ['a misspelt key', `api:\n  tokn: ${TOKEN}\n`],
    ['it is the key', `api: {${TOKEN}: x}\n`],
    ['it stands elsewhere too', `api:\n  token: ${TOKEN}\n  concurrency: ${TOKEN}\n`],
    ['another key reads it', 'api:\n  concurrency: ${' + 'INDEXHOUSE_TOKEN}\n'],
    ['it is an unknown alias', `api:\n  token: *${TOKEN}\n`],
    ['it is an unknown tag', `api:\n  token: !${TOKEN} x\n`],
  ])('never appears in an error: %s', async (_, text) => {
    const error = await failure(text, { INDEXHOUSE_TOKEN: TOKEN });
    expect(error.problems.length).toBeGreaterThan(0);
    expect(JSON.stringify([error.message, error.stack, error.problems])).not.toMatch(/7Kf9|secret/);
  });
});
