import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { globExpression } from '../../src/base/config/globs.js';
import { Engine } from '../../src/base/storage/engine.js';
import { sql } from '../../src/base/storage/sql.js';
import { atEnd, temporaryFolder } from '../given/folder.js';

let engine: Engine;

beforeAll(async () => {
  const folder = temporaryFolder();
  engine = await Engine.open({ memoryLimit: 256e6, temporary: join(folder, 'duckdb') });
  atEnd(() => engine.close());
  await engine.run(sql('sync/plan/goes_first'));
});

async function matches(globs: string[], url: string): Promise<boolean | undefined> {
  await engine.set({ first_pages: globExpression(globs) });
  const [row] = await engine.rows(z.object({ is: z.boolean() }), 'select goes_first($url) as is', { url });
  return row?.is;
}

describe('a pattern', () => {
  it.each([
    ['https://a.example/x', 'https://a.example/x', true],
    ['https://a.example/x', 'https://a.example/x/', false],
    ['*/x', 'https://a.example/b/x', true],
    ['*.html', 'https://a.example/x.html?page=2', false],
    // What begins with / is held against what follows the host.
    ['/blog/*', 'https://a.example/blog/x?y#z', true],
    ['/blog/*', 'https://a.example/x/blog/y', false],
    ['/blog/*', 'https://user:pw@a.example:8443/blog/', true],
    ['//a.example/x', 'https://a.example/x', false],
    ['/*', 'https://a.example', false],
    // Everything else stands for itself.
    ['/a?b', 'https://a.example/axb', false],
    ['/[ab]', 'https://a.example/a', false],
    ['/a.b', 'https://a.example/axb', false],
    ['/A', 'https://a.example/a', false],
    ['/a|/b', 'https://a.example/b', false],
    ['/\\E*\\Q', 'https://a.example/\\Ex\\Q', true],
    ['/ü*ß', 'https://a.example/üä😀ß', true],
  ])('%s and %s: %s', async (glob, url, expected) => {
    expect(await matches([glob], url)).toBe(expected);
    expect(await matches(['https://other.example/', glob, '/other'], url)).toBe(expected);
  });

  it('costs no more than its length, however many stars and patterns there are', async () => {
    const url = `https://a.example/${'a'.repeat(5000)}`;
    expect(await matches([`/${'*a'.repeat(1000)}b`], url)).toBe(false);
    expect(await matches([`/${'*'.repeat(20_000)}b`], url)).toBe(false);
    const many = Array.from({ length: 1000 }, (_, at) => `*x${at}*`);
    expect(await matches([...many, '*a'], url)).toBe(true);
  });
});
