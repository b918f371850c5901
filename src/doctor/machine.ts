import type { Config } from '../config/schema.js';
import { size as sized } from '../observe/format.js';
import { type CheckResult, resultsOf } from './check-result.js';

const LEAST_NODE = [20, 19] as const;
/** A night's bytes for each page: its coverage row and report in Parquet, and the same in indexhouse.duckdb. */
const BYTES_PER_PAGE = 38 + 60 + 80 + 146;
/** Fewer nights than this that fit on the disk are worth a warning. */
const FEW_NIGHTS = 30;
/** DuckDB goes beyond its limit, and Node needs some too. */
const SAFE_SHARE_OF_MEMORY = 0.75;

const node = resultsOf('node');
const disk = resultsOf('disk');
const memory = resultsOf('memory');

/** @param version such as `v20.19.2` */
export function checkNode(version: string): CheckResult {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  const [leastMajor, leastMinor] = LEAST_NODE;
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return node.ok(version);
  return node.error(`${version} is too old`, `Install Node ${LEAST_NODE.join('.')} or newer.`);
}

/** @param free bytes; @param pages of all websites, as far as the service told */
export function checkDisk({ warehouse }: Config, free: number, pages: number): CheckResult {
  const least = warehouse.min_free_disk;
  const nightly = pages * BYTES_PER_PAGE;
  const estimate = pages > 0 ? `; ${pages} pages take about ${sized(nightly)} a night` : '';
  const message = `${sized(free)} free, of which ${sized(least)} stay free (min_free_disk)${estimate}`;
  if (free < least)
    return disk.error(message, 'Free some space: below warehouse.min_free_disk no reports are fetched.');
  if (nightly * FEW_NIGHTS > free - least) {
    return disk.warning(message, `Free some space: this lasts ${Math.floor((free - least) / nightly)} nights.`);
  }
  return disk.ok(message);
}

/** @param available bytes of the machine or of the container */
export function checkMemory({ warehouse }: Config, available: number): CheckResult {
  const limit = warehouse.memory_limit;
  const message = `memory_limit is ${sized(limit)}, the machine has ${sized(available)}`;
  if (limit <= available * SAFE_SHARE_OF_MEMORY) return memory.ok(message);
  const fitting = `${Math.max(64, Math.floor((available * SAFE_SHARE_OF_MEMORY) / 2e6))}MB`;
  return memory.warning(
    message,
    `Lower warehouse.memory_limit to about ${fitting}, or the system may kill the process.`,
  );
}
