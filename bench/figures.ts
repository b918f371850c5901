/** How often each figure is measured: `BENCH_RUNS`, else 5. */
export const RUNS = Number(process.env['BENCH_RUNS'] ?? 5);

export interface Aim {
  atLeast?: number;
  atMost?: number;
  /** Not the median but every value must meet it. */
  each?: boolean;
}

/**
 * Prints a figure's values, their median and what it aims at. Where the median misses the aim, the process will end
 * with 1.
 *
 * @param digits behind the decimal point
 */
export function judge(name: string, values: number[], aim: Aim | null, digits = 3): void {
  const middle = median(values);
  const met = aim === null || (aim.each ? values : [middle]).every((value) => isWithin(value, aim));
  if (!met) process.exitCode = 1;
  const all = values.map((value) => value.toFixed(digits)).join(', ');
  const verdict = aim === null ? '' : `; aim ${aimText(aim)}: ${met ? 'met' : 'MISSED'}`;
  print(`${name}: ${all}; median ${middle.toFixed(digits)}${verdict}`);
}

function isWithin(
  value: number,
  { atLeast = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY }: Aim,
): boolean {
  return value >= atLeast && value <= atMost;
}

function aimText({ atLeast, atMost, each }: Aim): string {
  const bounds = [atLeast === undefined ? [] : `≥ ${atLeast}`, atMost === undefined ? [] : `≤ ${atMost}`].flat();
  return `${bounds.join(', ')}${each ? ' in each' : ''}`;
}

/** The middle value; of an even number of values the mean of the two in the middle. */
export function median(values: number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const half = sorted.length / 2;
  const low = sorted[Math.ceil(half) - 1] ?? Number.NaN;
  const high = sorted[Math.floor(half)] ?? Number.NaN;
  return (low + high) / 2;
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
