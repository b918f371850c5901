import { expect, test } from 'vitest';
import type { FaultRates } from '../../src/simulator/faults.js';
import type { Table } from '../../src/warehouse/tables.js';
import { seeds } from '../given/at-length.js';
import { startSimulator } from '../given/client-clock.js';
import { temporaryFolder } from '../given/folder.js';
import { readTable } from '../given/parquet.js';
import { seededRandom } from '../given/random.js';
import { findingsOf } from '../given/verified.js';
import { syncWebsite } from '../given/warehouse.js';

const NIGHTS = 3;
const API = { page_size: 12, concurrency: 6, max_attempts: 8, timeout: '2s' };
/** Every kind of fault that a night survives. */
const KINDS = [429, 500, 503, 'reset', 'html', 'invalid_json', 'slow', 'truncated', 'violation', 'wrong_url'];
const RATES: FaultRates = Object.fromEntries(KINDS.map((kind) => [kind, 0.03]));
/** Pages come and go at about one request in so many. */
const MOVE_ONE_IN = 9;

test.concurrent.for(seeds(1, 0.2))(
  'faults of every kind, while pages come and go, cost no page and no report its place (seed %i)',
  async (seed, { onTestFinished }) => {
    const websites = [{ id: 'w', pages: 40, nasty: true }];
    const simulator = await startSimulator({ seed, nights: 1, websites, slowBodyMs: 20 });
    onTestFinished(() => simulator.close());
    simulator.setFaults(RATES, ['listing', 'report']);
    const { world, requests } = simulator;
    const random = seededRandom(seed);
    const there = () => new Set([...world.pages('w')].map(({ coverage }) => coverage.url));
    let [stayed, moves] = [there(), 0];
    const record = requests.recordAttempt.bind(requests);
    requests.recordAttempt = (request) => {
      record(request);
      if (random() * MOVE_ONE_IN >= 1) return;
      moves++;
      const [at, many] = [Math.floor(random() * there().size), 1 + Math.floor(random() * 3)];
      if (random() < 0.5) world.addPages('w', many, at);
      else world.removePages('w', at, many);
      const now = there();
      stayed = new Set([...stayed].filter((url) => now.has(url)));
    };
    const warehouse = `${temporaryFolder(onTestFinished)}/warehouse`;
    const statuses: (string | null)[] = [];
    for (let night = 1; night <= NIGHTS; night++) {
      stayed = there();
      const at = world.now.toISOString();
      const { receipt, lagging } = await syncWebsite({ baseUrl: simulator.url, warehouse, at, sections: { api: API } });
      expect({ ...receipt, lagging }).toMatchObject({ status: 'committed', reports_status: 'complete', lagging: [] });
      statuses.push(receipt.listing_status);
      const rows = async (table: Table) =>
        (await readTable(warehouse, table)).filter((row) => row['snapshot_id'] === receipt.snapshot_id);
      const rejected = await rows('rejected_records');
      const listed = [...(await rows('coverage')), ...rejected.filter(({ source }) => source === 'coverage')];
      const urls = listed.flatMap(({ url }) => (url ? [String(url)] : []));
      expect(new Set(urls).size).toBe(urls.length);
      if (receipt.listing_status === 'complete') {
        const missing = [...stayed].filter((url) => !urls.includes(url));
        // A refused entry may not say which page it is.
        expect(missing.length).toBeLessThanOrEqual(listed.length - urls.length);
      }
      const reports = rejected.filter(({ source }) => source === 'url_report');
      const ended = [...(await rows('url_reports')), ...(await rows('report_failures')), ...reports];
      expect([ended.length, new Set(ended.map(({ url }) => url)).size]).toEqual([
        receipt.reports.planned,
        receipt.reports.planned,
      ]);
      simulator.advance();
    }
    expect(moves).toBeGreaterThan(NIGHTS);
    // Faults that are retried, and pages that move, are no reason for a listing to be partial.
    expect(statuses).toContain('complete');
    expect(await findingsOf(warehouse)).toEqual([]);
  },
);
