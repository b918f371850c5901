import { createRequire } from 'node:module';

/**
 * DuckDB's client, loaded only here: an `import` of a CommonJS package of this size takes twice the processor time of a
 * `require`, and every command waits for it. Types come from the package itself, by `import type`.
 */
export const duckdb: typeof import('@duckdb/node-api') = createRequire(import.meta.url)('@duckdb/node-api');
