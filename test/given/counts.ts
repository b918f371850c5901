import { z } from 'zod';
import { withEngine } from '../../src/base/storage/engine.js';
import { temporaryFolder } from './folder.js';

/** How many rows a database file gives for each of its relations that hold anything. */
export async function countsIn(file: string, relations: string[]): Promise<Record<string, number>> {
  const options = { file, readOnly: true, memoryLimit: 256e6, temporary: temporaryFolder(() => {}) };
  return withEngine(options, async (engine) => {
    const counts: Record<string, number> = {};
    for (const name of relations) {
      const [row] = await engine.rows(z.object({ n: z.int() }), `select count(*)::integer as n from ${name}`);
      counts[name] = row?.n ?? 0;
    }
    return counts;
  });
}
