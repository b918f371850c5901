import { basename } from 'node:path';
import { Engine } from '../src/base/storage/engine.js';

/** What a piece of work took, in seconds: by the clock, and of the processor. */
export interface Cost {
  seconds: number;
  computed: number;
}

/** Costs by the name of what was made. */
export type Parts = Map<string, Cost>;

/** Does a piece of work and adds what it took to a part. */
export async function costing<T>(parts: Parts, name: string, work: () => Promise<T>): Promise<T> {
  const begun = performance.now();
  const before = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  const { seconds, computed } = parts.get(name) ?? { seconds: 0, computed: 0 };
  const took = { seconds: (performance.now() - begun) / 1e3, computed: (user + system) / 1e6 };
  parts.set(name, { seconds: seconds + took.seconds, computed: computed + took.computed });
  return result;
}

/**
 * Measures every file that DuckDB writes from now on: a file of a table by its table, its ranges beneath it.
 *
 * @returns what ends that
 */
export function costCopies(parts: Parts): () => void {
  const copy = Engine.prototype.copy;
  Engine.prototype.copy = function measured(query, file, format) {
    const name = `  ${basename(file).replace(/\.staged(\.part\d+)?$/, '')}`;
    return costing(parts, name, () => copy.call(this, query, file, format));
  };
  return () => {
    Engine.prototype.copy = copy;
  };
}
