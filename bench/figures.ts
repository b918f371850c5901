import { boundOf, type Promised } from './promises.js';

/** How often each figure is measured: `BENCH_RUNS`, else 3. */
export const RUNS = sizeOf('BENCH_RUNS', 3);

/** A number from the environment, such as a size. */
export function sizeOf(name: string, usual: number): number {
  return Number(process.env[name] ?? usual);
}

/**
 * Prints a promise, what was measured, and whether it is kept. If it is not, the process ends with 1.
 *
 * @param slack how far chance may take a figure beyond its bounds
 */
export function judge(promised: Promised, measured: number, detail = '', slack = 0): void {
  const { what, atLeast = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY } = promised;
  const isKept = measured >= atLeast - slack && measured <= atMost + slack;
  if (!isKept) process.exitCode = 1;
  const more = detail && ` (${detail})`;
  print(`${what}: ${boundOf(promised)}, ${shown(measured)}${more}, ${isKept ? 'ok' : 'MISSED'}`);
}

/** Prints figures that nothing is promised of. */
export function tell(what: string, figures: Readonly<Record<string, number>>): void {
  const all = Object.entries(figures).map(([name, value]) => `${name} ${shown(value)}`);
  print(`${what}: ${all.join(', ')}`);
}

/** Three digits of a small number, all of a large one. */
export function shown(value: number): string {
  const maximumSignificantDigits = Math.max(3, Math.trunc(Math.abs(value)).toString().length);
  return Number.isFinite(value) ? value.toLocaleString('en-US', { maximumSignificantDigits }) : String(value);
}

/** The middle value; of an even number of values the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const half = sorted.length / 2;
  const low = sorted[Math.ceil(half) - 1] ?? Number.NaN;
  const high = sorted[Math.floor(half)] ?? Number.NaN;
  return (low + high) / 2;
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
