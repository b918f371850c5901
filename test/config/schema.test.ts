import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../given/folder.js';
import { failure, load, MINIMAL, withKey } from './given.js';

const DAY_MS = 86_400_000;

describe('defaults', () => {
  it('fills in every key', async () => {
    const { file, ...config } = await load(MINIMAL);
    expect(config).toEqual({
      api: {
        base_url: 'https://api.example.com',
        token: 'abc',
        requests_per_minute: 60,
        concurrency: 8,
        timeout: 30_000,
        page_size: 1000,
        max_attempts: 5,
      },
      websites: 'all',
      reports: {
        max_per_run: Number.POSITIVE_INFINITY,
        refresh_after: 30 * DAY_MS,
        deadline: 20 * 3_600_000,
        priority: { first: [], never: [] },
      },
      warehouse: {
        path: join(file, '../warehouse'),
        time_zone: 'UTC',
        parquet_compression: 'zstd',
        memory_limit: 1e9,
        min_free_disk: 1e9,
        lock_timeout: 30_000,
        cache_size: 10e9,
      },
      iceberg: { enabled: false, history: 30 * DAY_MS },
      retention: {
        duckdb_keep: Number.POSITIVE_INFINITY,
        parquet_keep_daily: Number.POSITIVE_INFINITY,
        parquet_then: 'monthly',
      },
      sync: { resume_within: 6 * 3_600_000, retry_for: 6 * 3_600_000, max_clock_skew: 3_600_000 },
      notify: {
        channels: [],
        failed: true,
        stale: true,
        partial_nights: 1,
        reports: true,
        lagging: true,
        outage: 3_600_000,
        drift: true,
        rejects: true,
        indexed_drop: { share: 0.05 },
        directory_drop: { share: 0.2 },
        watch: [],
        robots_blocked: 10,
        canonical_flips: 50,
      },
      quality: { max_reject_ratio: 0.01, max_failed_ratio: 0.01 },
      status: { max_age: 'auto' },
      schedule: {
        time_zone: 'UTC',
        catch_up: 12 * 3_600_000,
        jitter: 0,
        'nightly-sync': '0 2 * * *',
        maintain: false,
        verify: false,
        report: false,
      },
      report: { folder: join(dirname(file), 'reports'), keep: 30 },
      service: {
        host: '127.0.0.1',
        port: 8090,
        requests_per_minute: Number.POSITIVE_INFINITY,
        page_size: 100,
        max_page_size: 1000,
        connections_per_address: 256,
        trust_proxy: [],
        allowed_hosts: [],
        secure_cookies: false,
        cors: [],
        access_log: false,
      },
    });
  });

  it('takes a section without keys as one that is left out', async () => {
    expect((await load(`${MINIMAL}reports:\n  # deadline: 1h\n`)).reports.deadline).toBe(20 * 3_600_000);
  });
});

describe('durations and sizes', () => {
  it('takes what is to be kept in days, so that minutes are not taken for months', async () => {
    const { retention } = await load(withKey('retention', 'duckdb_keep: 400d'));
    expect(retention.duckdb_keep).toBe(400 * DAY_MS);
    const { message } = await failure(withKey('retention', 'parquet_keep_daily: 30m'));
    expect(message).toContain('such as 400d');
  });

  it.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['10m', 600_000],
    ['6h', 21_600_000],
    ['30d', 30 * DAY_MS],
    ['1.5h', 5_400_000],
  ])('%s is %d ms', async (text, ms) => {
    expect((await load(withKey('sync', `resume_within: ${text}`))).sync.resume_within).toBe(ms);
  });

  it.each([
    ['256MB', 256e6],
    ['1GB', 1e9],
    ['1GiB', 2 ** 30],
    ['1.5 gb', 1.5e9],
  ])('%s is %d bytes', async (text, bytes) => {
    expect((await load(withKey('warehouse', `memory_limit: ${text}`))).warehouse.memory_limit).toBe(bytes);
  });
});

describe('a bad value is refused by name', () => {
  it.each([
    ['api', 'timeout: 30', 'a number and a unit'],
    ['api', 'timeout: 30 seconds', '(found: 30 seconds)'],
    ['api', 'timeout: 0s', 'too short'],
    ['api', 'timeout: 25h', 'too long'],
    ['api', 'timeout: -5s', 'not a duration'],
    ['api', 'timeout:', 'has no value'],
    ['api', 'requests_per_minute: 0', 'a number above 0, or `unlimited`'],
    ['api', 'requests_per_minute: lots', 'a number above 0, or `unlimited`'],
    ['api', 'requests_per_minute: .inf', 'a number above 0, or `unlimited`'],
    ['api', 'concurrency: 0', 'from 1 to 256'],
    ['api', 'concurrency: 257', 'from 1 to 256'],
    ['api', 'concurrency: 1.5', 'from 1 to 256'],
    ['api', 'concurrency: "8"', 'from 1 to 256'],
    ['api', 'page_size: 100001', 'from 1 to 100000'],
    ['api', 'max_attempts: 21', 'from 1 to 20'],
    ['api', 'max_attempts: [5]', 'from 1 to 20'],
    ['reports', 'max_per_run: -1', 'a whole number from 0'],
    ['reports', 'max_per_run: 1.5', 'a whole number from 0'],
    ['reports', 'deadline: unlimited', 'not a duration'],
    ['warehouse', 'path: ""', 'not a path'],
    ['warehouse', 'path: ~/data', 'starts with ~'],
    ['warehouse', 'path: s3://Lake/x', 'not the address of a bucket'],
    ['warehouse', 'time_zone: Europe/Nowhere', 'not a time zone (found: Europe/Nowhere)'],
    ['warehouse', 'time_zone: "+02:00"', 'not a time zone'],
    ['warehouse', 'parquet_compression: lz4', 'zstd, snappy or gzip'],
    ['warehouse', 'memory_limit: 1', 'not a size'],
    ['warehouse', 'memory_limit: 1MB', 'too small'],
    ['warehouse', 'min_free_disk: 1PB', 'not a size'],
    ['quality', 'max_reject_ratio: 1.01', 'from 0 to 1'],
    ['quality', 'max_reject_ratio: .nan', 'from 0 to 1'],
    ['service', 'port: 65536', 'from 0 to 65535'],
    ['service', 'host: ""', 'not an address'],
    ['service', 'requests_per_minute: 0.5', 'a whole number from 1, or `unlimited`'],
    ['schedule', 'nightly-sync: "0 2 * *"', 'five fields'],
    ['schedule', 'nightly-sync: "0 24 * * *"', 'Invalid value for hour'],
    ['schedule', 'nightly-sync: true', 'false to switch the job off'],
    ['schedule', 'verify: soon', 'five fields'],
    ['schedule', 'verifi: "0 2 * * *"', 'Did you mean `verify`?'],
  ])('%s: %s', async (section, line, words) => {
    const error = await failure(withKey(section, line));
    expect(error.problems.map(({ path }) => path)).toEqual([`${section}.${line.split(':')[0]}`]);
    expect(error.message).toContain(words);
  });

  it('takes the ends of each range', async () => {
    expect((await load(withKey('api', 'concurrency: 256'))).api.concurrency).toBe(256);
    expect((await load(withKey('reports', 'max_per_run: 0'))).reports.max_per_run).toBe(0);
    expect((await load(withKey('quality', 'max_reject_ratio: 1'))).quality.max_reject_ratio).toBe(1);
    const unlimited = await load(withKey('api', 'requests_per_minute: unlimited'));
    expect(unlimited.api.requests_per_minute).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('api.base_url', () => {
  const at = (url: string) => `api:\n  base_url: "${url}"\n  token: abc\n`;

  it.each([
    ['https://api.example.com/', 'https://api.example.com'],
    ['https://api.example.com/prefix/v//', 'https://api.example.com/prefix/v'],
    ['http://localhost:8080', 'http://localhost:8080'],
    ['http://127.3.2.1:1/x/', 'http://127.3.2.1:1/x'],
    ['http://[::1]:8080', 'http://[::1]:8080'],
  ])('%s becomes %s', async (given, taken) => {
    expect((await load(at(given))).api.base_url).toBe(taken);
  });

  it.each([
    ['http://api.example.com', 'not encrypted'],
    ['http://localhost.example.com', 'not encrypted'],
    ['http://127.0.0.1.example.com', 'not encrypted'],
    ['ftp://api.example.com', 'not an https address'],
    ['api.example.com', 'not an address'],
    ['https:api.example.com', 'not an address'],
    ['https://api.example.com/tenant/v1/', 'ends in /v1'],
    ['https://api.example.com?', 'a query'],
    ['https://api.example.com/#', 'a fragment'],
    ['https://user:pass-word@api.example.com', 'user name or password'],
    ['https://@api.example.com', 'user name or password'],
    ['https://api.example.com\\\\@evil.example', 'not an address'],
    ['', 'not an address'],
  ])('refuses %s', async (given, words) => {
    const error = await failure(at(given));
    expect(error.problems).toMatchObject([{ path: 'api.base_url', line: 2, column: 13 }]);
    expect(error.message).toContain(words);
    expect(error.message).not.toContain('pass-word');
  });
});

describe('websites', () => {
  const listed = (text: string) => `${MINIMAL}websites:${text}\n`;

  it('takes a list', async () => {
    const { websites } = await load(listed('\n  - id: a1\n    name: example.com\n  - id: b2\n    token: own'));
    expect(websites).toEqual([
      { id: 'a1', name: 'example.com' },
      { id: 'b2', token: 'own' },
    ]);
  });

  it.each([
    [' []', 'websites', 'empty list'],
    [' some', 'websites', 'neither `all` nor a list'],
    ['\n  - a1', 'websites[0]', 'not a mapping'],
    ['\n  - name: x', 'websites[0].id', 'is missing'],
    ['\n  - id: 645', 'websites[0].id', 'in quotes'],
    ['\n  - id: 6e45', 'websites[0].id', 'in quotes'],
    ['\n  - id: ".."', 'websites[0].id', 'not the id'],
    ['\n  - id: a\n  - id: b\n  - id: a', 'websites[2].id', 'also the id of entry 1'],
    ['\n  - id: a\n    nam: x', 'websites[0].nam', 'Did you mean `name`?'],
    ['\n  - id: a\n    base_url: example', 'websites[0].base_url', 'https'],
    ['\n  - id: a\n    base_url: https://other.example', 'websites[0].token', '`api.token` is not sent to'],
  ])('refuses %j', async (text, path, words) => {
    const error = await failure(listed(text));
    expect(error.problems.map((problem) => problem.path)).toEqual([path]);
    expect(error.message).toContain(words);
  });
});

describe('cron expressions', () => {
  const schedule = (time: string) => load(withKey('schedule', `nightly-sync: ${JSON.stringify(time)}`));

  it.each(['0 2 * * *', '*/5 * * * *', '0 0 1-31/2 jan-mar mon,fri', '0 0 29 2 *'])('takes %j', async (text) => {
    expect((await schedule(text)).schedule['nightly-sync']).toBe(text);
  });

  it.each(['', '* * * *', '60 * * * *', '0 0 31 2 *', '0 0 * * 8', 'a b c d e'])('refuses %j', async (text) => {
    const { problems } = await failure(withKey('schedule', `nightly-sync: ${JSON.stringify(text)}`));
    expect(problems).toMatchObject([{ path: 'schedule.nightly-sync', remedy: expect.stringContaining('five fields') }]);
  });

  it('lets a job be switched off, and others be switched on', async () => {
    const { schedule } = await load(withKey('schedule', 'nightly-sync: false\n  verify: "0 5 * * sun"'));
    expect(schedule).toMatchObject({ 'nightly-sync': false, verify: '0 5 * * sun', maintain: false });
  });
});

describe('token_file', () => {
  const config = (api: string) => `api:\n  base_url: https://api.example.com\n${api}`;

  it('holds the token, also of a website', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'secret'), 'tok-of-a-file\n');
    const website = `websites:\n  - id: w\n    token_file: ${join(folder, 'secret')}\n`;
    const { api, websites } = await load(config(`  token_file: ${join(folder, 'secret')}\n${website}`));
    expect([api.token, websites]).toEqual(['tok-of-a-file', [expect.objectContaining({ token: 'tok-of-a-file' })]]);
  });

  it.each([
    ['  token_file: /no/such/file\n', 'indexhouse.yaml:3:15: api.token_file cannot be read (ENOENT). Check the path'],
    ['  token: abc\n  token_file: /dev/null\n', 'api.token_file stands beside token. Remove one of the two.'],
    ['  token_file: /dev/null\n', 'api.token'],
  ])('is refused: %s', async (api, words) => {
    expect((await failure(config(api))).message).toContain(words);
  });
});

it('the default time zone is known without loading all of them', async () => {
  const formats = vi.spyOn(Intl, 'DateTimeFormat');
  onTestFinished(() => formats.mockRestore());
  expect((await load(MINIMAL)).warehouse.time_zone).toBe('UTC');
  expect(formats).not.toHaveBeenCalled();
});

describe('service', () => {
  it.each([
    'trust_proxy: [127.0.0.1, 10.0.0.0/8, "::1", "2001:db8::/32"]',
    'allowed_hosts: [indexhouse.example.com, house]',
    'cors: [https://app.example.com, http://localhost:3000, "*"]',
  ])('takes %s', async (line) => expect((await load(withKey('service', line))).service).toBeDefined());
  it.each([
    'trust_proxy: 127.0.0.1',
    'trust_proxy: [all]',
    'trust_proxy: [10.0.0.0/33]',
    'trust_proxy: [10.0.0.0/8/8]',
    'allowed_hosts: [https://indexhouse.example.com]',
    'allowed_hosts: ["house:8090"]',
    'cors: [https://app.example.com/]',
    'cors: [app.example.com]',
    'cors: ["null"]',
    'access_log: "yes"',
  ])('refuses %s', async (line) => {
    const { message } = await failure(withKey('service', line));
    expect(message).toContain(`service.${line.split(':')[0]}`);
  });
});
