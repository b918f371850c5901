export function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, each) => all + each, 0);
}
