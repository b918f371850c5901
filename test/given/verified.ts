import { join } from 'node:path';
import type { Finding, Verified } from '../../src/warehouse/upkeep/verify/finding.js';
import { verify } from '../../src/warehouse/upkeep/verify/verify.js';

const MEMORY_LIMIT_BYTES = 256e6;

/** `verify` in this process. */
export function verified(warehouse: string, repair = false): Promise<Verified> {
  const engine = { memoryLimit: MEMORY_LIMIT_BYTES, temporary: join(warehouse, 'tmp', 'test') };
  return verify({ warehouse, memoryLimit: MEMORY_LIMIT_BYTES, engine, repair });
}

/** What it finds but for notes. */
export async function findingsOf(warehouse: string): Promise<Finding[]> {
  return (await verified(warehouse)).findings.filter(({ level }) => level !== 'note');
}
