import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.js';
import { secretsOf } from '../../src/config/websites.js';
import { failure, load, MINIMAL, tempFolder } from './given.js';

const CLICKHOUSE = `${MINIMAL}clickhouse:\n  url: http://clickhouse:8123/\n`;

describe('clickhouse', () => {
  it('is absent unless it is configured, and needs only an address', async () => {
    expect(await load(MINIMAL)).not.toHaveProperty('clickhouse');
    const { clickhouse } = await load(CLICKHOUSE);
    expect(clickhouse).toEqual({ url: 'http://clickhouse:8123', database: 'indexhouse', user: 'default' });
  });

  it('masks its password in logs', async () => {
    const config = await load(`${CLICKHOUSE}  password: \${SECRET}\n`, { SECRET: 'hush' });
    expect(secretsOf(config)).toEqual(['abc', 'hush']);
  });

  it('reads the password from a file of its own, for commands that need no token, too', async () => {
    const cwd = await tempFolder();
    await writeFile(`${cwd}/password`, 'hush\n');
    await writeFile(`${cwd}/indexhouse.yaml`, `${CLICKHOUSE}  password_file: password\n`);
    for (const withoutTokens of [true, false]) {
      const { clickhouse } = await loadConfig({ env: {}, cwd, withoutTokens });
      expect(clickhouse).toMatchObject({ password: 'hush' });
    }
  });

  it.each([
    ['url: clickhouse:8123', 'is not the address of a server'],
    ['url: https://default:hush@host', 'is not the address of a server'],
    ['url: https://host/database', 'is not the address of a server'],
    ['url: https://host\n  database: a.b', 'is not the name of a database'],
    ['url: https://host\n  password: 12', 'clickhouse.password is not a password'],
    ['url: https://host\n  password: a\n  password_file: b', 'clickhouse.password_file stands beside password'],
    ['url: https://host\n  password_file: nowhere', 'clickhouse.password_file cannot be read (ENOENT)'],
    ['user: writer', 'clickhouse.url is missing'],
  ])('refuses %j', async (lines, message) => {
    const { message: refused } = await failure(`${MINIMAL}clickhouse:\n  ${lines}\n`);
    expect(refused).toContain(message);
    expect(refused).not.toContain('hush');
  });

  it('asks for the variable of its password only where it is needed', async () => {
    const text = `${CLICKHOUSE}  password: \${SECRET}\n`;
    expect((await failure(text)).message).toContain('SECRET, which is not set');
    const cwd = await tempFolder();
    await writeFile(`${cwd}/indexhouse.yaml`, text);
    expect((await loadConfig({ env: {}, cwd, withoutTokens: true })).clickhouse).not.toHaveProperty('password');
  });
});
