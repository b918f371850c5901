import { describe, expect, test } from 'vitest';
import { coverageEntrySchema } from '../../src/contract/coverage.js';
import { urlReportSchema } from '../../src/contract/report.js';
import type { FaultRates } from '../../src/simulator/faults.js';
import { DEMO_TOKEN, type Simulator } from '../../src/simulator/simulator.js';
import type { Table } from '../../src/warehouse/tables.js';
import { seeds } from '../given/at-length.js';
import { startSimulator } from '../given/client-clock.js';
import { temporaryFolder } from '../given/folder.js';
import { type Row, readTable } from '../given/parquet.js';
import { seededRandom } from '../given/random.js';
import { differences, syncOne } from '../given/sync-one.js';

const NIGHTS = 3;
const PAGES = 40;
const API = { page_size: 12, concurrency: 6, max_attempts: 8, timeout: '2s' };
const RATES: FaultRates = {
  429: 0.03,
  500: 0.04,
  503: 0.03,
  reset: 0.03,
  html: 0.02,
  invalid_json: 0.02,
  slow: 0.03,
  truncated: 0.03,
  violation: 0.03,
  wrong_url: 0.03,
};
/** Pages come and go at about one request in so many. */
const MOVE_ONE_IN = 9;

describe('a service where everything goes wrong at times, while pages come and go', () => {
  test.concurrent.for(seeds(1, 0.2))(
    'costs no page and no report its place (seed %i)',
    async (seed, { onTestFinished }) => {
      const simulator = await startSimulator({
        seed,
        nights: 1,
        websites: [{ id: 'w', pages: PAGES, nasty: true }],
        slowBodyMs: 20,
      });
      onTestFinished(() => simulator.close());
      simulator.setFaults(RATES, ['listing', 'report']);
      const warehouse = `${temporaryFolder(onTestFinished)}/warehouse`;
      const world = new MovingWorld(simulator, seed);
      const statuses: (string | null)[] = [];
      for (let night = 1; night <= NIGHTS; night++) {
        world.dawn();
        const { receipt, lagging } = await syncOne({
          baseUrl: simulator.url,
          warehouse,
          at: simulator.world.now.toISOString(),
          token: DEMO_TOKEN,
          api: API,
        });
        expect({ ...receipt, lagging }).toMatchObject({ status: 'committed', reports_status: 'complete', lagging: [] });
        statuses.push(receipt.listing_status);
        const rows = await newestRows(warehouse, receipt.snapshot_id ?? '');
        expectListed(world, rows, receipt.listing_status === 'complete');
        expectReports(world, rows, receipt.reports.planned);
        simulator.advance();
      }
      expect(world.moves).toBeGreaterThan(NIGHTS);
      // Faults that are retried, and pages that move, are no reason for a listing to be partial.
      expect(statuses).toContain('complete');
      expect(await differences(warehouse)).toEqual([]);
    },
  );
});

/** The world of a simulator that changes under the reader's hands, and what was in it all the while. */
class MovingWorld {
  /** Pages that are in the world now. */
  #there = new Map<string, { coverage: Row; report: Row }>();
  /** What was in it at any time of this night, as it was then. */
  seen = new Map<string, { coverage: Row; report: Row }>();
  /** Pages that were in it at every time of this night. */
  stayed = new Set<string>();
  moves = 0;

  constructor(
    private readonly simulator: Simulator,
    seed: number,
  ) {
    const random = seededRandom(seed);
    const { requests, world } = simulator;
    const record = requests.recordAttempt.bind(requests);
    requests.recordAttempt = (request) => {
      record(request);
      if (random() * MOVE_ONE_IN >= 1) return;
      this.moves++;
      const at = Math.floor(random() * this.#there.size);
      if (random() < 0.5) world.addPages('w', 1 + Math.floor(random() * 3), at);
      else world.removePages('w', at, 1 + Math.floor(random() * 3));
      this.#look();
    };
  }

  /** A night begins. */
  dawn(): void {
    this.seen = new Map();
    this.#look();
    this.stayed = new Set(this.#there.keys());
  }

  #look(): void {
    this.#there = new Map();
    for (const { coverage, report } of this.simulator.world.pages('w')) {
      this.#there.set(coverage.url, { coverage: { ...coverage }, report: { ...report } });
    }
    for (const [url, truth] of this.#there) this.seen.set(url, truth);
    for (const url of this.stayed) if (!this.#there.has(url)) this.stayed.delete(url);
  }
}

type Rows = Record<'coverage' | 'url_reports' | 'report_failures' | 'rejected_records', Row[]>;

async function newestRows(warehouse: string, snapshotId: string): Promise<Rows> {
  const of = async (table: Table) =>
    (await readTable(warehouse, table)).filter((row) => row['snapshot_id'] === snapshotId);
  return {
    coverage: await of('coverage'),
    url_reports: await of('url_reports'),
    report_failures: await of('report_failures'),
    rejected_records: await of('rejected_records'),
  };
}

function urls(rows: Row[]): string[] {
  return rows.flatMap(({ url }) => (typeof url === 'string' ? [url] : []));
}

function expectListed(world: MovingWorld, rows: Rows, complete: boolean): void {
  const refused = rows.rejected_records.filter(({ source }) => source === 'coverage');
  const listed = [...urls(rows.coverage), ...urls(refused)];
  expect(new Set(listed).size).toBe(listed.length);
  for (const row of rows.coverage) expectAsInTheWorld(row, world, 'coverage', Object.keys(coverageEntrySchema.shape));
  if (!complete) return;
  const missing = [...world.stayed].filter((url) => !listed.includes(url));
  // An entry that was refused may not say which page it is.
  expect(missing.length).toBeLessThanOrEqual(refused.length - urls(refused).length);
}

function expectReports(world: MovingWorld, rows: Rows, planned: number): void {
  const refused = rows.rejected_records.filter(({ source }) => source === 'url_report');
  const ended = [...urls(rows.url_reports), ...urls(rows.report_failures), ...urls(refused)];
  expect(ended).toHaveLength(planned);
  expect(new Set(ended).size).toBe(planned);
  const unasked = urls(rows.coverage).filter((url) => !ended.includes(url));
  expect(unasked).toEqual([]);
  for (const row of rows.url_reports) expectAsInTheWorld(row, world, 'report', Object.keys(urlReportSchema.shape));
}

function expectAsInTheWorld(row: Row, world: MovingWorld, what: 'coverage' | 'report', fields: string[]): void {
  const truth = world.seen.get(String(row['url']))?.[what] ?? {};
  expect(Object.fromEntries(fields.map((field) => [field, plain(row[field])]))).toEqual(
    Object.fromEntries(fields.map((field) => [field, plain(truth[field])])),
  );
}

/** One form for both: what is omitted is null, and times have the service's form. */
function plain(value: unknown): unknown {
  return value instanceof Date ? value.toISOString() : (value ?? null);
}
