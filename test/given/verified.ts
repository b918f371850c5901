import { join } from 'node:path';
import type { Finding } from '../../src/verify/finding.js';
import { verify } from '../../src/verify/verify.js';

const MEMORY_LIMIT_BYTES = 256e6;

/** What `verify` finds that is worth a look, asked in this process. */
export async function findingsOf(warehouse: string): Promise<Finding[]> {
  const engine = { memoryLimit: MEMORY_LIMIT_BYTES, temporary: join(warehouse, 'tmp', 'test') };
  const { findings } = await verify({ warehouse, memoryLimit: MEMORY_LIMIT_BYTES, engine, repair: false });
  return findings.filter(({ level }) => level !== 'note');
}
