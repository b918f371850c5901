import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { loadConfig } from '../../../src/base/config/load.js';
import { secretsOf } from '../../../src/base/config/websites.js';
import { temporaryFolder } from '../../given/folder.js';
import { failure, load, MINIMAL, withKey } from './given.js';

const DAY_MS = 86_400_000;
const UNLIMITED = Number.POSITIVE_INFINITY;

/** Lines of a section, and what they give. */
const TAKEN: [section: 'api' | 'reports' | 'warehouse' | 'notify', line: string, value: unknown][] = [
  ['reports', 'refresh_after: 1.5h', 5_400_000],
  ['warehouse', 'memory_limit: 1GiB', 2 ** 30],
  ['api', 'requests_per_minute: unlimited', UNLIMITED],
  ['api', 'concurrency: 256', 256],
  ['reports', 'priority: { never: ["*?p=*"] }', { first: [], never: ['*?p=*'] }],
  ['notify', 'indexed_drop: 2.5%', { share: 0.025 }],
  ['notify', 'indexed_drop: 7', { pages: 7 }],
];

test.each(TAKEN)('%s: %s', async (section, line, value) => {
  const keys: Record<string, unknown> = (await load(withKey(section, line)))[section];
  expect(keys[line.split(':')[0] ?? '']).toEqual(value);
});

/** Lines of a section, and what the error says of them. */
const REFUSED: [section: string, line: string, words: string][] = [
  ['reports', 'deadline: 0s', 'too short'],
  ['api', 'requests_per_minute: 0', 'a number above 0, or `unlimited`'],
  ['api', 'concurrency: 257', 'from 1 to 256'],
  ['warehouse', 'path: ~/data', 'starts with ~'],
  ['warehouse', 'path: s3://lake/x', 'is a bucket, not a folder'],
  ['warehouse', 'time_zone: Europe/Nowhere', 'not a time zone'],
  ['warehouse', 'memory_limit: 1MB', 'too small'],
  ['reports', 'max_failed_ratio: 1.01', 'from 0 to 1'],
  ['service', 'trust_proxy: [10.0.0.0/33]', 'is not an address'],
  ['schedule', 'nightly-sync: "0 2 * *"', 'five fields'],
  ['schedule', 'nightly-sync: "0 0 31 2 *"', 'there is no such date'],
  ['notify', 'watch: ["/a", Shop]', 'notify.watch[1] matches no URL, and is not the name of a view'],
  ['notify', 'channels: [{ type: pass-word }]', 'channels[0].type is not the type of a channel'],
  ['notify', 'channels: [{ type: slack, url: "http://hooks.example/pass-word" }]', 'is not an https address'],
  ['notify', 'channels: [{ type: slack, urls: "https://x.example" }]', 'Did you mean `url`?'],
  [
    'notify',
    'channels: [{ type: email, smtp: "smtp://me:pass-word@m.example", from: a@b.c, to: [a@b.c] }]',
    'channels[0].smtp',
  ],
  [
    'notify',
    'channels: [{ type: email, smtp: "smtp://x.example", from: "a@b.example\\r\\npass-word: x", to: [a@b.example] }]',
    'channels[0].from',
  ],
  ['notify', 'channels: [{ type: command, run: [a], name: x }, { type: command, run: [b], name: x }]', 'twice'],
];

test.each(REFUSED)('%s: %s is refused', async (section, line, words) => {
  const error = await failure(withKey(section, line));
  expect(error.problems[0]?.path).toMatch(new RegExp(`^${section}\\.`));
  expect(error.message).toContain(words);
  expect(error.message).not.toContain('pass-word');
});

test.each(['https://lake', 's3://lake/../other', 's3://lake//x'])('the bucket %s is refused', async (url) => {
  expect((await failure(`${MINIMAL}bucket: ${url}\n`)).message).toContain('is not the address of a bucket');
});

describe('api.base_url', () => {
  const at = (url: string) => `api:\n  base_url: "${url}"\n  token: abc\n`;

  it.each([
    ['https://api.example.com/prefix/v//', 'https://api.example.com/prefix/v'],
    ['http://localhost:8080', 'http://localhost:8080'],
    ['http://[::1]:8080', 'http://[::1]:8080'],
  ])('%s becomes %s', async (given, taken) => {
    expect((await load(at(given))).api.base_url).toBe(taken);
  });

  it.each([
    ['http://localhost.example.com', 'not encrypted'],
    ['https://api.example.com/tenant/v1/', 'ends in /v1'],
    ['https://api.example.com?', 'a query'],
    ['https://user:pass-word@api.example.com', 'user name or password'],
    ['https://api.example.com\\\\@evil.example', 'not an address'],
  ])('refuses %s', async (given, words) => {
    const error = await failure(at(given));
    expect(error.problems).toMatchObject([{ path: 'api.base_url', line: 2, column: 13 }]);
    expect(error.message).toContain(words);
    expect(error.message).not.toContain('pass-word');
  });
});

test.each([
  [' []', 'websites', 'empty list'],
  ['\n  - id: 645', 'websites[0].id', 'in quotes'],
  ['\n  - id: ".."', 'websites[0].id', 'not the id'],
  ['\n  - id: a\n  - id: b\n  - id: a', 'websites[2].id', 'also the id of entry 1'],
  ['\n  - id: a\n    token: [x]', 'websites[0].token', 'is not text'],
])('websites: %j is refused', async (text, path, words) => {
  const error = await failure(`${MINIMAL}websites:${text}\n`);
  expect(error.problems.map((problem) => problem.path)).toEqual([path]);
  expect(error.message).toContain(words);
});

describe('secrets', () => {
  const SLACK = 'https://hooks.slack.com/services/T0/B0/an-unguessable-path';
  const text = `${MINIMAL}notify:
  except: [drift]
  channels:
    - { type: slack, url: "\${SLACK}" }
    - { type: webhook, url: "http://localhost:1/x", secret: "\${SECRET}" }
    - { type: email, smtp: "smtps://m.example", user: me, password: "\${PASSWORD}", from: a@b.example, to: [c@d.example] }
bucket: s3://lake/indexhouse/
`;

  it('of tokens and channels come from the environment, and are masked', async () => {
    const config = await load(text, { SLACK, SECRET: 'shh-1', PASSWORD: 'shh 2' });
    const secrets = ['abc', SLACK, '/services/T0/B0/an-unguessable-path', 'shh-1', 'shh 2'];
    expect(secretsOf(config)).toEqual(expect.arrayContaining(secrets));
    expect((await failure(text)).message).toMatch(/SLACK(.|\n)*PASSWORD, which is not set/);
  });

  it('are not needed by commands that send nothing', async () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, 'indexhouse.yaml'), text);
    const { notify, bucket } = await loadConfig({ env: {}, cwd, withoutTokens: true });
    expect([notify.channels, notify.except, bucket]).toEqual([[], ['drift'], 's3://lake/indexhouse']);
  });

  it('may be in a file of their own', async () => {
    const file = join(temporaryFolder(), 'secret');
    writeFileSync(file, 'tok-of-a-file\n');
    const start = 'api:\n  base_url: https://api.example.com\n';
    const token = `token: { file: ${file} }\n`;
    const { api, websites } = await load(`${start}  ${token}websites:\n  - id: w\n    ${token}`);
    expect([api.token, websites]).toEqual(['tok-of-a-file', [expect.objectContaining({ token: 'tok-of-a-file' })]]);
    writeFileSync(`${file}-empty`, '\n');
    const refused: [string, string][] = [
      ['token: { file: /no/such/file }', 'indexhouse.yaml:3:18: api.token.file cannot be read (ENOENT)'],
      [`token: { file: ${file}-empty }`, 'api.token is empty'],
    ];
    for (const [line, words] of refused) expect((await failure(`${start}  ${line}\n`)).message).toContain(words);
  });
});

test('retention is a number of days, or unlimited', async () => {
  expect((await load(`${MINIMAL}retention: 400d\n`)).retention).toBe(400 * DAY_MS);
  expect((await failure(`${MINIMAL}retention: 30m\n`)).message).toContain('such as 400d');
});

test('a section without keys counts as left out, and a job can be switched off', async () => {
  const { reports, schedule } = await load(`${MINIMAL}reports:\n  # deadline: 1h\nschedule:\n  nightly-sync: false\n`);
  expect([reports.deadline, schedule['nightly-sync']]).toEqual([20 * 3_600_000, false]);
});

describe('a view', () => {
  const at = (pages: string) => `${MINIMAL}views:\n  - name: Out\n    pages: ${pages}`;

  it.each([
    ['"directory=/products/&indexed=no&q=a%26b"', { directory: '/products/', indexed: 'no', q: 'a&b' }],
    ['https://i.example/dashboard/websites/1/pages?per=50&state=Soft+404&sort=-url', { state: 'Soft 404' }],
    ['{ indexed: "-", from: 2026-11-01, crawl: 2-7 days }', { indexed: '-', from: '2026-11-01', crawl: '2-7 days' }],
  ])('%s is read', async (pages, read) => {
    expect((await load(at(pages))).views).toEqual([{ name: 'Out', pages: read }]);
  });

  it.each([
    ['"indexd=no"', 'has an unknown filter indexd. The filters are: q, state, indexed, directory,'],
    ['{ indexed: maybe }', 'has no valid value for indexed. Write one of: yes, no, gone, -.'],
    ['"from=yesterday"', 'has no valid value for from. Write a date, or a shorter text.'],
    ['indexed=no\nnotify:\n  watch: [Out]\n', 'notify.watch[0] names a view that filters by indexed.'],
  ])('%s is refused', async (pages, words) => {
    expect((await failure(at(pages))).message).toContain(words);
  });
});
