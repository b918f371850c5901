import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/temporary-root.ts',
    env: { TZ: 'UTC', NO_COLOR: '1' },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    // Most of the time goes into real processes; loading every module anew for each file would only add to it.
    isolate: false,
  },
});
