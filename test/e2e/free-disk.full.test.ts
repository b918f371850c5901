import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../src/app/demo/simulator/simulator.js';
import { temporaryFolder } from '../given/folder.js';
import { Home } from '../given/home.js';
import { readTable } from '../given/parquet.js';

const PAGES = 40;

let simulator: Simulator;

beforeAll(async () => {
  simulator = await startSimulator({ seed: 3, websites: [{ id: 'w', pages: PAGES }] });
});

afterAll(() => simulator.close());

describe('with less free disk than warehouse.min_free_disk', () => {
  test('a run stops fetching, commits what it has, and the next one goes on', async () => {
    const home = new Home(temporaryFolder(), simulator, ['w'], { warehouse: { min_free_disk: '0MB' } });
    let asked = 0;
    // The disk is looked at every two seconds; the clock of this run is that fast.
    const start = Date.now();
    const receipt = await home.syncOne({
      clock: () => start + asked * 3000,
      freeDisk: () => (++asked > 10 ? -1 : 10e9),
    });
    expect(receipt).toMatchObject({ status: 'committed', listing_status: 'complete', reports_status: 'interrupted' });
    expect(receipt.error).toContain('min_free_disk');
    expect(receipt.reports.planned).toBe(receipt.reports.fetched);
    expect(receipt.reports.fetched).toBeGreaterThan(0);
    expect(receipt.reports.fetched).toBeLessThan(PAGES);
    expect(await home.wrong()).toEqual([]);

    const had = (await readTable(home.warehouse, 'url_reports')).filter(
      ({ snapshot_id }) => snapshot_id === receipt.snapshot_id,
    );
    expect(await home.syncOne()).toMatchObject({ reports_status: 'complete', resumed: false });
    expect(had).toHaveLength(receipt.reports.fetched);
    expect(await home.wrong()).toEqual([]);
  });
});
