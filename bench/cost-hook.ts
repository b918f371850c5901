import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { duckdb } from '../src/base/storage/duckdb.js';

/**
 * Imported into a measured process by `--import`: writes what it took to the file that `COST_FILE` names when it ends,
 * and sends it to a parent that asks by a message.
 */
const { DuckDBInstance, DuckDBConnection } = duckdb;
const { cache: loaded } = createRequire(import.meta.url);
const counts = { engines: 0, statements: 0 };

const create = DuckDBInstance.create;
DuckDBInstance.create = (...given) => {
  counts.engines++;
  return create.apply(DuckDBInstance, given);
};
// A script of several statements counts as one.
for (const name of ['run', 'stream', 'prepare'] as const) {
  const own = DuckDBConnection.prototype[name] as (...given: unknown[]) => Promise<never>;
  DuckDBConnection.prototype[name] = function counted(this: unknown, ...given: unknown[]) {
    counts.statements++;
    return own.apply(this, given);
  };
}

function cost() {
  const { user, system } = process.cpuUsage();
  const loadsGoogle = Object.keys(loaded).some((path) => path.includes('google-auth-library'));
  return { ...counts, loadsGoogle, seconds: (user + system) / 1e6, megabytes: process.resourceUsage().maxRSS / 1e3 };
}

process.on('exit', () => writeFileSync(process.env['COST_FILE'] ?? '/dev/null', JSON.stringify(cost())));
if (process.send) {
  process.on('message', () => process.send?.(cost()));
  process.channel?.unref();
}
