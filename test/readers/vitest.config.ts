import { defineConfig } from 'vitest/config';

/** Readers that are not among the dependencies, because of their size: `npm run test:readers` installs them first. */
export default defineConfig({
  test: {
    include: ['test/readers/*.readers.ts'],
    env: { TZ: 'UTC', NO_COLOR: '1' },
    testTimeout: 300_000,
    hookTimeout: 600_000,
    fileParallelism: false,
  },
});
