import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { runExitCode } from '../../src/sync/receipt.js';
import { start } from '../given/cli.js';
import { reportCounts, startSimulator } from '../given/client-clock.js';
import { writeConfig } from '../given/config-file.js';
import { contentOf } from '../given/content.js';
import { temporaryFolder } from '../given/folder.js';
import { NASTY_PATHS } from '../given/nasty-paths.js';
import { readTable } from '../given/parquet.js';
import { seededRandom } from '../given/random.js';
import { seeds } from '../given/seeds.js';
import { syncNow } from '../given/synced.js';
import { findingsOf } from '../given/verified.js';

const WEBSITE = 'a/b c.d';
const MAX_KILLS = 5;
const CONCURRENCY = 4;
const PAGES = 100;
/** Long enough to fall into every part of a run, its start and its end included. */
const LONGEST_LIFE_MS = 1_400;

test.each(seeds(3))(
  'a sync that is killed at random moments and started again fetches nothing twice (seed %i)',
  async (seed) => {
    const random = seededRandom(seed);
    const websites = [{ id: WEBSITE, pages: PAGES, paths: NASTY_PATHS }];
    const simulator = await startSimulator({ seed, nights: 2, websites, prefix: '/tenant/api', maxLimit: 30 });
    const folder = temporaryFolder();
    const api = { concurrency: CONCURRENCY, requests_per_minute: 24_000 };
    const configIn = (path: string) =>
      writeConfig(path, { baseUrl: simulator.url, websites: [WEBSITE], sections: { api } });
    const other = temporaryFolder();
    expect(runExitCode(await syncNow(configIn(other)))).toBe(0);
    const whole = await heldBy(join(other, 'warehouse'));
    simulator.requests.reset();
    const config = configIn(folder);
    const kills = await runWithKills(config, random);
    const warehouse = join(folder, 'warehouse');
    expect(await readTable(warehouse, 'snapshots')).toHaveLength(1);
    expect(await heldBy(warehouse)).toEqual(whole);
    expect(await findingsOf(warehouse)).toEqual([]);
    const twice = [...reportCounts(simulator).values()].reduce((sum, { answered }) => sum + answered - 1, 0);
    expect(twice).toBeLessThanOrEqual(kills * CONCURRENCY);
  },
);

/** What a warehouse holds of the website. */
async function heldBy(warehouse: string) {
  const { coverage, url_reports, page_state } = await contentOf(warehouse);
  expect(coverage?.length).toBeGreaterThanOrEqual(PAGES);
  return { coverage, url_reports, page_state };
}

/** Kills the sync up to five times, then lets it end. Once it has committed, a further start would be another run. */
async function runWithKills(config: string, random: () => number): Promise<number> {
  const wanted = 1 + Math.floor(random() * MAX_KILLS);
  const hasCommitted = async () => (await readTable(join(config, '..', 'warehouse'), 'snapshots')).length > 0;
  let kills = 0;
  for (; kills < wanted && !(await hasCommitted()); kills++) {
    const sync = start(['sync', '--config', config]);
    await Promise.race([sync.ended, delay(random() * LONGEST_LIFE_MS)]);
    sync.kill('SIGKILL');
    await sync.ended;
  }
  // A run that was killed behind its commit is over: only what it left is finished then.
  const recovered = await syncNow(config, { recoverOnly: true });
  expect(runExitCode(recovered), JSON.stringify(recovered)).toBe(0);
  if (!(await hasCommitted())) expect(runExitCode(await syncNow(config))).toBe(0);
  return kills;
}
