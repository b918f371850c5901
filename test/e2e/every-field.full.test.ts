import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { type Simulator, startSimulator } from '../../src/app/demo/simulator/simulator.js';
import { withEngine } from '../../src/base/storage/engine.js';
import { run } from '../given/cli.js';
import { writeConfig } from '../given/config-file.js';
import { temporaryFolder } from '../given/folder.js';
import { asTruth, byHyparquet, type Truth, truthOf } from '../given/truth.js';

const WEBSITES = ['a/b c.d', 'plain'];
const PAGES = 200;

let simulator: Simulator;

beforeAll(async () => {
  simulator = await startSimulator({
    seed: 11,
    prefix: '/tenant/api',
    nights: 3,
    websites: WEBSITES.map((id) => ({ id, pages: PAGES, nasty: true })),
  });
});

afterAll(() => simulator.close());

test('a simulated world is in coverage and url_reports field by field, for DuckDB and hyparquet', async () => {
  const folder = temporaryFolder();
  const warehouse = join(folder, 'warehouse');
  const config = writeConfig(folder, {
    baseUrl: simulator.url,
    websites: WEBSITES,
    sections: { api: { page_size: 37 } },
  });

  const ended = await run(['sync', '--json', '--config', config]);
  expect(ended).toMatchObject({ code: 0, stderr: expect.not.stringContaining('"level":"error"') });

  for (const websiteId of WEBSITES) {
    const truth = truthOf(simulator.world, websiteId);
    expect(truth.coverage.size).toBeGreaterThan(PAGES);
    expectWorld(await byHyparquet(warehouse, websiteId), truth);
    expectWorld(await byDuckdb(warehouse, websiteId), truth);
  }
});

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
