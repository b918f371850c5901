import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.js';
import { secretsOf } from '../../src/config/websites.js';
import { failure, load, MINIMAL, tempFolder } from './given.js';

const BUCKET = `${MINIMAL}bucket:\n  url: s3://lake/indexhouse/\n`;

describe('bucket', () => {
  it('is absent unless it is configured', async () => {
    expect(await load(MINIMAL)).not.toHaveProperty('bucket');
  });

  it('takes an address alone, and leaves the rest to the environment', async () => {
    expect((await load(BUCKET)).bucket).toEqual({ url: 's3://lake/indexhouse', journal: false });
  });

  it('masks its secrets in logs', async () => {
    const keys = `  access_key_id: AKID\n  secret_access_key: \${SECRET}\n  session_token: temporary\n`;
    const config = await load(BUCKET + keys, { SECRET: 'hush' });
    expect(secretsOf(config)).toEqual(['abc', 'hush', 'temporary']);
  });

  it.each([
    ['url: https://lake', 'is not the address of a bucket'],
    ['url: s3://Lake', 'is not the address of a bucket'],
    ['url: s3://lake/../other', 'is not the address of a bucket'],
    ['url: s3://lake/a%2Fb', 'is not the address of a bucket'],
    ['url: s3://lake//x', 'is not the address of a bucket'],
    ['url: s3://lake\n  endpoint: https://user:pass@host', 'is not the address of a server'],
    ['url: s3://lake\n  endpoint: https://host/lake', 'is not the address of a server'],
    ['url: s3://lake\n  access_key_id: AKID', 'bucket.secret_access_key is missing'],
    ['url: s3://lake\n  secret_access_key: hush', 'bucket.access_key_id is missing'],
    ['journal: true', 'bucket.url is missing'],
  ])('refuses %j', async (lines, message) => {
    expect((await failure(`${MINIMAL}bucket:\n  ${lines}\n`)).message).toContain(message);
  });

  it('asks for the variables of its keys only where they are needed', async () => {
    const text = `${BUCKET}  access_key_id: \${KEY}\n  secret_access_key: \${SECRET}\n`;
    expect((await failure(text)).message).toMatch(/KEY, which is not set(.|\n)*SECRET, which/);
    const cwd = await tempFolder();
    await writeFile(`${cwd}/indexhouse.yaml`, text);
    const { bucket } = await loadConfig({ env: {}, cwd, withoutTokens: true });
    expect(bucket).toEqual({ url: 's3://lake/indexhouse', journal: false });
  });
});
