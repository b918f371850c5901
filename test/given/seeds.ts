/** How many times as many random cases as usual: `INDEXHOUSE_TEST_SEEDS=50 npm run test:full -- kill-anywhere`. */
const TIMES = Number(process.env['INDEXHOUSE_TEST_SEEDS'] ?? 1);

/** Numbers from 1, one for each random case. */
export function seeds(usual: number): number[] {
  return Array.from({ length: usual * TIMES }, (_, at) => at + 1);
}
