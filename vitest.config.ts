import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Random tests and crashes at every step: a few in `npm test`, and at length in `npm run test:full`. */
const AT_LENGTH = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => `test/${file}`)
  .filter((file) => readFileSync(file, 'utf8').includes('given/at-length.js'));
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const FULL = 'test/**/*.full.test.ts';

/** `npm test` runs what a change can break; `npm run test:full`, which is the mode `full`, the rest. */
export default defineConfig(({ mode }) => ({
  test: {
    include: mode === 'full' ? [FULL, ...AT_LENGTH] : ['test/**/*.test.ts'],
    exclude: mode === 'full' ? [] : [FULL],
    globalSetup: 'test/temporary-root.ts',
    setupFiles: 'test/pinned-random.ts',
    env: { TZ: 'UTC', NO_COLOR: '1', INDEXHOUSE_TEST_MODE: mode },
    // Only a test that hangs is late: the machine may be busy. Those of the mode `full` may work for longer.
    testTimeout: mode === 'full' ? HOUR_MS : 5 * MINUTE_MS,
    hookTimeout: 10 * MINUTE_MS,
    maxWorkers: Math.max(2, availableParallelism()),
    // Most of the time goes into DuckDB; loading every module anew for each file would only add to it.
    isolate: false,
  },
}));
