import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { nightlySync } from '../../../jobs/nightly-sync.js';
import { JobBoard, runDaemon } from '../../../src/app/daemon/daemon.js';
import type { Job } from '../../../src/app/daemon/job.js';
import { loadConfig } from '../../../src/base/config/load.js';
import { createLogger } from '../../../src/base/observe/log.js';
import { startSimulator } from '../../given/client-clock.js';
import { writeConfig } from '../../given/config-file.js';
import { temporaryFolder } from '../../given/folder.js';
import { readTable } from '../../given/parquet.js';

const NIGHTS = 20;
/** Nights until everything is loaded, compiled and cached. */
const WARM_UP = 10;
/** More than that is a leak: it is a heap after a collection. */
const GROWTH_BYTES = 0.8e6;

test('the memory of the daemon does not grow from night to night', async () => {
  const simulator = await startSimulator({ websites: [{ id: 'w', pages: 60 }], countPerRequest: false });
  const file = writeConfig(temporaryFolder(), {
    baseUrl: simulator.url,
    websites: ['w'],
    sections: { reports: { refresh_after: '0d' } },
  });
  const config = await loadConfig({ file, env: {}, cwd: '/' });
  const logger = createLogger({ level: 'silent' });
  const stop = new AbortController();
  const used: number[] = [];
  const run: Job['run'] = async (context) => {
    const exitCode = await nightlySync.run(context);
    simulator.advance();
    if (used.push(heap()) === NIGHTS) stop.abort();
    return exitCode;
  };
  const everySecond = '* * * * * *';
  const jobs = [{ name: 'nightly-sync', job: { run }, cron: everySecond }];
  await runDaemon({ jobs, config, version: 'test', logger, board: new JobBoard(null, logger), signal: stop.signal });
  expect(await readTable(config.warehouse.path, 'snapshots')).toHaveLength(NIGHTS);
  expect((used.at(-1) ?? 0) - (used[WARM_UP] ?? 0)).toBeLessThan(GROWTH_BYTES);
});

/** Bytes in use after a collection. */
function heap(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}
