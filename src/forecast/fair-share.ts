/**
 * Shares a capacity among demands, max-min fair: nobody gets more than asked for, nothing is left while somebody wants
 * more, and who gets less than asked for gets as much as anybody (to within one, because shares are whole numbers).
 *
 * @param capacity whole, at least 0; Infinity gives everybody what is asked for
 * @param demands whole numbers
 */
export function fairShares(capacity: number, demands: readonly number[]): number[] {
  const shares = demands.map(() => 0);
  const rising = demands.map((demand, at) => ({ demand, at })).sort((one, other) => one.demand - other.demand);
  let left = capacity;
  for (const [done, { demand, at }] of rising.entries()) {
    const share = Math.min(demand, Math.floor(left / (rising.length - done)));
    shares[at] = share;
    left -= share;
  }
  return shares;
}
