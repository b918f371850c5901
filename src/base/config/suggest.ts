/** The candidate nearest to a mistyped word, or null if none is near enough. */
export function nearest(word: string, candidates: readonly string[]): string | null {
  const limit = Math.max(1, Math.floor(word.length / 3));
  const near = candidates.map((candidate) => ({ candidate, distance: editDistance(normal(word), normal(candidate)) }));
  const [best] = near.filter(({ distance }) => distance <= limit).sort((one, other) => one.distance - other.distance);
  return best?.candidate ?? null;
}

/** `timeZone`, `time-zone` and `TIME_ZONE` all count as `time_zone`. */
function normal(word: string): string {
  return word.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

/** Insertions, deletions, replacements and swaps of neighbours that turn one word into the other. */
export function editDistance(from: string, to: string): number {
  const rows: number[][] = [Array.from({ length: to.length + 1 }, (_, index) => index)];
  const cell = (row: number, column: number) => rows[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let row = 1; row <= from.length; row++) {
    rows.push([row]);
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1] ? 0 : 1;
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      const swap = row > 1 && column > 1 && swapped ? cell(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY;
      const edited = Math.min(cell(row - 1, column) + 1, cell(row, column - 1) + 1, cell(row - 1, column - 1) + same);
      rows[row]?.push(Math.min(edited, swap));
    }
  }
  return cell(from.length, to.length);
}
