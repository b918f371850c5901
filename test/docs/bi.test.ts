import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { Engine } from '../../src/storage/engine.js';
import { literal, packageFolder } from '../../src/storage/sql.js';
import { givenEveryTable } from '../given/every-table.js';
import { temporaryFolder } from '../given/folder.js';

const GUIDES = join(packageFolder(), 'docs', 'bi');
const FILES = readdirSync(GUIDES);
const clean: (() => void | Promise<void>)[] = [];

let views: Engine;

/** The statements of a guide's SQL blocks. */
function statementsOf(file: string): string[] {
  const blocks = [...readFileSync(join(GUIDES, file), 'utf8').matchAll(/^ *```sql\n([\s\S]*?)```/gm)];
  return blocks.flatMap(([, block]) => (block ?? '').split(/;\s*$/m)).filter((statement) => statement.trim() !== '');
}

describe('the guides in docs/bi', () => {
  beforeAll(async () => {
    const onFinished = (each: () => void | Promise<void>) => void clean.push(each);
    const warehouse = await givenEveryTable('zstd', onFinished);
    const file = join(warehouse, 'analytics.duckdb');
    views = await Engine.open({ file, readOnly: true, memoryLimit: 256e6, temporary: temporaryFolder(onFinished) });
    await views.run(`set file_search_path = ${literal(dirname(warehouse))}`);
  });

  afterAll(async () => {
    views.close();
    for (const each of clean.reverse()) await each();
  });

  test.each(FILES)('%s holds SQL that runs as it stands there', async (file) => {
    const statements = statementsOf(file);
    expect(statements.length).toBeGreaterThan(0);
    for (const statement of statements) {
      const rows = await views.rows(z.record(z.string(), z.unknown()), statement);
      // A setting, and the nights that are not whole, of which there are none here.
      if (!/^\s*set |listing_status <>/.test(statement)) expect([statement, rows.length]).not.toEqual([statement, 0]);
    }
  });

  test('are all named by README.md and by the overview, and name no file that is not there', () => {
    const overview = readFileSync(join(GUIDES, 'README.md'), 'utf8');
    const readme = readFileSync(join(packageFolder(), 'README.md'), 'utf8');
    for (const file of FILES) {
      if (file !== 'README.md') expect(overview).toContain(`](${file})`);
      expect(readme).toContain(`](docs/bi/${file})`);
      const links = [...readFileSync(join(GUIDES, file), 'utf8').matchAll(/\]\((?!https:)([^)#]+)/g)];
      for (const [, link] of links) expect(() => readFileSync(join(GUIDES, link ?? ''))).not.toThrow();
    }
  });
});
