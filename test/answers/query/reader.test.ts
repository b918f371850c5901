import { chmodSync, copyFileSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { ask } from '../../../src/answers/query/question.js';
import { Reader } from '../../../src/answers/query/reader.js';
import { UsageError } from '../../../src/base/exit.js';
import { MemoryError } from '../../../src/base/storage/engine.js';
import { listTableFiles, stateFolder, tableFile } from '../../../src/warehouse/log/folder/layout.js';
import { DATA_TABLES } from '../../../src/warehouse/log/folder/tables.js';
import { run } from '../../given/cli.js';
import { temporaryFolder } from '../../given/folder.js';
import type { BuiltWarehouse } from '../../given/warehouse.js';
import { openReader, rowsOf, smallWarehouse } from './given.js';

let warehouse: BuiltWarehouse;
let reader: Reader | undefined;

beforeAll(async () => {
  warehouse = await smallWarehouse();
});

afterEach(() => {
  vi.unstubAllEnvs();
  reader?.close();
  reader = undefined;
});

async function open(): Promise<Reader> {
  reader = await openReader(warehouse.path);
  return reader;
}

const countOf = async (from: string) =>
  (await rowsOf(reader ?? (await open()), `select count(*) as n from ${from}`))[0]?.['n'];

describe('what a reader sees', () => {
  test('are the tables and views of the commits', async () => {
    const names = (await rowsOf(await open(), 'show tables')).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining([...DATA_TABLES, 'pages', 'page_changes', 'coverage_daily', 'notes']));
    const { stdout } = await run(['query', '--help']);
    const listed = /SQL sees these tables and views[^:]*: ([^.]*)\./.exec(stdout)?.[1]?.match(/\w+/g);
    expect(listed?.filter((name) => name !== 'and').sort()).toEqual(names);
    const counts: unknown[] = [];
    for (const name of ['snapshots', 'runs', 'coverage', 'pages', 'coverage_daily']) counts.push(await countOf(name));
    expect(counts).toEqual([2, 2, 7, 4, 7]);
  });

  test('does not hold what has no marker', async () => {
    const [file] = await listTableFiles(warehouse.path, 'coverage');
    const stray = tableFile(warehouse.path, 'coverage', { websiteId: 'shop', date: '2025-03-01', id: 'stray' });
    copyFileSync(file ?? '', stray);
    expect(await countOf('coverage')).toBe(7);
    rmSync(stray);
  });

  test('makes a state that is missing only for a question that reads it, once, and keeps it', async () => {
    const states = stateFolder(warehouse.path, 'shop');
    const before = await rowsOf(await open(), 'from page_state order by url');
    reader?.close();
    rmSync(states, { recursive: true });
    const rebuilt: string[] = [];
    const onRebuilt = (website: string, file: string) => void rebuilt.push(`${website} ${file}`);
    reader = await Reader.open({ warehouse: warehouse.path, memoryLimit: 256e6, onRebuilt });
    await rowsOf(reader, "select 'from pages' as page_state, count(*) from coverage");
    expect([rebuilt, existsSync(states)]).toEqual([[], false]);
    expect(await rowsOf(reader, 'from page_state order by url')).toEqual(before);
    expect(before.map(({ absences }) => absences)).toEqual([0, 0, 0, 1]);
    expect(rebuilt).toEqual([`shop ${join(states, `${reader.markers.at(-1)?.snapshotId}.parquet`)}`]);
    reader.close();
    reader = await Reader.open({ warehouse: warehouse.path, memoryLimit: 256e6, onRebuilt });
    expect(await rowsOf(reader, 'from page_state order by url')).toEqual(before);
    expect(rebuilt).toHaveLength(1);
  });
});

test('a reader writes nothing into the warehouse and leaves nothing behind', async () => {
  const list = () => readdirSync(warehouse.path, { recursive: true }).sort();
  vi.stubEnv('TMPDIR', temporaryFolder());
  const before = list();
  chmodSync(warehouse.path, 0o555);
  await rowsOf(await open(), 'from pages');
  expect(readdirSync(tmpdir())).toEqual([expect.stringMatching(/^indexhouse-reader-/)]);
  reader?.close();
  reader = undefined;
  chmodSync(warehouse.path, 0o755);
  expect([list(), readdirSync(tmpdir())]).toEqual([before, []]);
});

describe('a question', () => {
  let asked: Reader;

  beforeAll(async () => {
    asked = await openReader(warehouse.path);
  });

  test.each([
    ["copy (select 1) to '/tmp/stolen.csv'", 'COPY'],
    ["attach 'x.duckdb'", 'ATTACH'],
    ['set threads = 1', 'SET'],
    ['/* x */ delete from runs', 'DELETE'],
    ['select 1; select 2', '2 statements'],
    ['', 'no statement'],
    ['selec 1', 'syntax error'],
    ['select nope from pages', '"nope" not found'],
  ])('refuses %j', async (sql, words) => {
    const refused = ask(asked, { name: 'own.sql', sql, parameters: {} });
    await expect(refused).rejects.toThrow(UsageError);
    await expect(refused).rejects.toThrow(new RegExp(`^own\\.sql[^]*${words}`));
  });

  test('has no access to the keys of the service', async () => {
    const file = join(warehouse.path, 'service-keys.json');
    const read = asked.engine.rows(z.unknown(), 'from read_text($file)', { file });
    await expect(read).rejects.toThrow('Permission Error');
  });

  test('takes parameters by name, and says which ones a statement uses', async () => {
    const sql = 'select url from coverage where index_summary = $summary and snapshot_date = $date order by url';
    expect(await rowsOf(asked, sql, { summary: 'Indexed', date: '2025-03-01' })).toHaveLength(4);
    await expect(rowsOf(asked, sql, { summary: 'Indexed' })).rejects.toThrow(
      'the parameter $date is missing: date=…; the statement uses $summary, $date',
    );
    await expect(rowsOf(asked, 'select 1', { x: '1' })).rejects.toThrow('no parameter $x; the statement uses no');
  });

  test('names the setting and a value where memory runs out', async () => {
    const needed = 'select list(range::varchar || repeat(range::varchar, 20)) from range(5_000_000)';
    const error = await rowsOf(asked, needed).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(MemoryError);
    expect(String(error)).toContain('memory than the 256MB that it has here: set `warehouse.memory_limit` to 2GB');
  });

  test('never gives a part of an answer for the whole', async () => {
    const question = { name: 'first', sql: 'select range as n from range(100000)', parameters: {} };
    const { parts } = await ask(asked, question);
    await rowsOf(asked, 'from coverage');
    const read = async () => {
      for await (const part of parts) expect(part).not.toEqual([]);
    };
    await expect(read()).rejects.toThrow('first: another question was asked before its answer was read');
  });
});
