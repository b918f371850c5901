import { describe, test } from 'vitest';

const IS_FULL = process.env['INDEXHOUSE_TEST_MODE'] === 'full';
/** `INDEXHOUSE_TEST_SEEDS=500 npm run test:full -- kill-anywhere` takes more. */
const SEEDS = Number(process.env['INDEXHOUSE_TEST_SEEDS'] ?? 12);

/** What `npm test` does, or all of it in `npm run test:full`. */
export function atLength<T>(aFew: T, all: T): T {
  return IS_FULL ? all : aFew;
}

/** A test that is the same in both modes. */
export const once = test;

/** A whole test for `npm run test:full` alone: another way through what `npm test` proves by a shorter one. */
export function testAtLength(name: string, run: () => Promise<void>): void {
  if (IS_FULL) test(name, run);
}

/** The same of a block with a warehouse of its own. */
export function describeAtLength(name: string, define: () => void): void {
  if (IS_FULL) describe(name, define);
}

/** Numbers from 1: so many seeds in `npm test`; in `npm run test:full` 12 or another number, times a factor. */
export function seeds(aFew: number, factor = 1): number[] {
  return Array.from({ length: atLength(aFew, Math.ceil(SEEDS * factor)) }, (_, at) => at + 1);
}

/** Of a table of cases, by their names: these in `npm test`, the others in `npm run test:full`. */
export function casesAtLength<C extends readonly [name: string, ...rest: unknown[]]>(
  all: readonly C[],
  ...aFew: string[]
): readonly C[] {
  const chosen = all.filter(([name]) => aFew.includes(name));
  if (chosen.length < aFew.length) throw new Error(`of ${aFew.join(', ')} there are only ${chosen.length}`);
  return IS_FULL ? all : chosen;
}
