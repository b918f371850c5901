import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.js';
import { withEngine } from '../../src/storage/engine.js';
import { listTableFiles } from '../../src/warehouse/layout.js';
import { atLength } from '../given/at-length.js';
import { run } from '../given/cli.js';
import { writeConfig } from '../given/config-file.js';
import { temporaryFolder } from '../given/folder.js';
import type { Row } from '../given/parquet.js';
import { asTruth, byHyparquet, type Truth, truthOf } from '../given/truth.js';

const WEBSITES = ['a/b c.d', 'plain'];
const PAGES = atLength(60, 200);

let simulator: Simulator;

beforeAll(async () => {
  simulator = await startSimulator({
    seed: 11,
    prefix: '/tenant/api',
    nights: 3,
    websites: WEBSITES.map((id) => ({ id, pages: PAGES, nasty: true })),
    keys: [{ token: 'demo-token', label: 'test', websites: 'all' }],
  });
});

afterAll(() => simulator.close());

describe.each(atLength(['snappy'], ['zstd', 'snappy', 'gzip']))(
  'a simulated world, synced into %s Parquet',
  (compression) => {
    test('stands in coverage and url_reports field by field, for three readers', async () => {
      const folder = temporaryFolder();
      const warehouse = join(folder, 'warehouse');
      const sections = { warehouse: { parquet_compression: compression }, api: { page_size: 37 } };
      const config = writeConfig(folder, { baseUrl: simulator.url, websites: WEBSITES, sections });

      const ended = await run(['sync', '--json', '--config', config]);
      expect(ended).toMatchObject({ code: 0, stderr: expect.not.stringContaining('"level":"error"') });

      for (const websiteId of WEBSITES) {
        const truth = truthOf(simulator.world, websiteId);
        expect(truth.coverage.size).toBeGreaterThan(PAGES);
        expectWorld(await byHyparquet(warehouse, websiteId), truth);
        expectWorld(await byDuckdb(warehouse, websiteId), truth);
        // This reader knows neither zstd nor a path with a percent sign in it as anything but a path.
        if (compression !== 'zstd') expectWorld(await byParquetjs(warehouse, websiteId), truth);
      }
    });
  },
);

function expectWorld(found: Truth, truth: Truth): void {
  expect(Object.fromEntries(found.coverage)).toEqual(Object.fromEntries(truth.coverage));
  expect(Object.fromEntries(found.reports)).toEqual(Object.fromEntries(truth.reports));
}

async function byDuckdb(warehouse: string, websiteId: string): Promise<Truth> {
  const options = {
    file: join(warehouse, 'indexhouse.duckdb'),
    readOnly: true,
    memoryLimit: 256e6,
    temporary: temporaryFolder(),
  };
  return withEngine(options, async (engine) => {
    const rowsOf = async (table: string) => {
      const reader = await engine.raw.runAndReadAll(`select * from ${table} where website_id = $id`, { id: websiteId });
      return z.array(z.record(z.string(), z.unknown())).parse(reader.getRowObjectsJS());
    };
    return asTruth(await rowsOf('coverage'), await rowsOf('url_reports'));
  });
}

interface ParquetReader {
  getCursor(): { next(): Promise<Row | null> };
  close(): Promise<void>;
}

async function byParquetjs(warehouse: string, websiteId: string): Promise<Truth> {
  const { ParquetReader } = createRequire(import.meta.url)('parquetjs-lite') as {
    ParquetReader: { openFile(path: string): Promise<ParquetReader> };
  };
  const rowsOf = async (table: 'coverage' | 'url_reports') => {
    const rows: Row[] = [];
    for (const file of await listTableFiles(warehouse, table)) {
      const reader = await ParquetReader.openFile(file);
      const cursor = reader.getCursor();
      for (let row = await cursor.next(); row; row = await cursor.next()) rows.push(flatLists(row));
      await reader.close();
    }
    return rows.filter((row) => row['website_id'] === websiteId);
  };
  return asTruth(await rowsOf('coverage'), await rowsOf('url_reports'));
}

const listSchema = z.strictObject({ list: z.array(z.object({ element: z.string() })).default([]) });

/** This reader shows a standard list as the groups that it is made of. */
function flatLists(row: Row): Row {
  const list = listSchema.safeParse(row['sitemaps']);
  return list.success ? { ...row, sitemaps: list.data.list.map(({ element }) => element) } : row;
}
