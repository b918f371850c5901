import { defineConfig } from 'vitest/config';

/** What takes minutes, or tools that are not among the dependencies: `npm run test:full` installs them first. */
export default defineConfig({
  test: {
    include: ['test/full/*.full.ts'],
    globalSetup: 'test/temporary-root.ts',
    env: { TZ: 'UTC', NO_COLOR: '1' },
    testTimeout: 600_000,
    hookTimeout: 600_000,
    fileParallelism: false,
  },
});
