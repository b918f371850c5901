const IS_FULL = process.env['INDEXHOUSE_TEST_MODE'] === 'full';
/** `INDEXHOUSE_TEST_SEEDS=500 npm run test:full -- kill-anywhere` takes more. */
const SEEDS = Number(process.env['INDEXHOUSE_TEST_SEEDS'] ?? 12);

/** What `npm test` does, or all of it in `npm run test:full`. */
export function atLength<T>(aFew: T, all: T): T {
  return IS_FULL ? all : aFew;
}

/** Numbers from 1: so many seeds in `npm test`; in `npm run test:full` 12 or another number, times a factor. */
export function seeds(aFew: number, factor = 1): number[] {
  return Array.from({ length: atLength(aFew, Math.ceil(SEEDS * factor)) }, (_, at) => at + 1);
}
