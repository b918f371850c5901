import { writeFileSync } from 'node:fs';
import { duckdb } from '../src/base/storage/duckdb.js';

/**
 * Imported into a measured process by `--import`: counts the engines that it opened, its statements, the seconds that
 * it computed and its largest memory to the file that `COUNTS_FILE` names.
 */
const { DuckDBInstance, DuckDBConnection } = duckdb;
const counts = { engines: 0, statements: 0 };

const create = DuckDBInstance.create;
DuckDBInstance.create = (...given) => {
  counts.engines++;
  return create.apply(DuckDBInstance, given);
};
for (const name of ['run', 'stream', 'extractStatements'] as const) {
  const own = DuckDBConnection.prototype[name] as (...given: unknown[]) => Promise<never>;
  DuckDBConnection.prototype[name] = function counted(this: unknown, ...given: unknown[]) {
    counts.statements++;
    return own.apply(this, given);
  };
}
process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  writeFileSync(
    process.env['COUNTS_FILE'] ?? '',
    JSON.stringify({ ...counts, seconds: (user + system) / 1e6, megabytes: process.resourceUsage().maxRSS / 1e3 }),
  );
});
