import type { Finding, Verified } from '../../src/warehouse/upkeep/verify/finding.js';
import { verifyWarehouse } from '../../src/warehouse/upkeep/verify/verify.js';

const MEMORY_LIMIT_BYTES = 256e6;

/** `verify` in this process. */
export function verified(warehouse: string, repair = false): Promise<Verified> {
  return verifyWarehouse({ warehouse, memoryLimit: MEMORY_LIMIT_BYTES }, repair);
}

/** What it finds but for notes. */
export async function findingsOf(warehouse: string): Promise<Finding[]> {
  return (await verified(warehouse)).findings.filter(({ level }) => level !== 'note');
}
