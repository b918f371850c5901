import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const MINUTE_MS = 60_000;

/** `npm test` runs what a change is likely to break, `npm run test:full` (the mode `full`) everything. */
export default defineConfig(({ mode }) => ({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: mode === 'full' ? [] : ['test/**/*.full.test.ts'],
    globalSetup: 'test/temporary-root.ts',
    setupFiles: 'test/each-file.ts',
    env: { TZ: 'UTC', NO_COLOR: '1' },
    // Only a test that hangs is late: the machine may be busy.
    testTimeout: 60 * MINUTE_MS,
    hookTimeout: 60 * MINUTE_MS,
    maxWorkers: Math.max(2, availableParallelism()),
    // Most of the time goes into DuckDB; loading every module anew for each file would only add to it.
    isolate: false,
  },
}));
