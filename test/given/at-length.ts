/** What `npm test` does, or all of it in `npm run test:full`. */
export function atLength<T>(aFew: T, all: T): T {
  return process.env['INDEXHOUSE_TEST_MODE'] === 'full' ? all : aFew;
}
