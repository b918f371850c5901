/** Times that are kept. */
const MAX_KEPT = 100_000;

/** When the requests of a key were sent, counted from 1. Times are milliseconds that never go back. */
export class SentLog {
  #times: number[] = [];
  #dropped = 0;

  get count(): number {
    return this.#dropped + this.#times.length;
  }

  add(now: number): void {
    this.#times.push(now);
    if (this.#times.length < 2 * MAX_KEPT) return;
    this.#times = this.#times.slice(MAX_KEPT);
    this.#dropped += MAX_KEPT;
  }

  /** When this request was sent; long ago where that is not known any more, or it is none. */
  at(sequence: number): number {
    return this.#times[sequence - 1 - this.#dropped] ?? Number.NEGATIVE_INFINITY;
  }

  /** Requests that were sent after this moment; Infinity where so long ago is not known any more. */
  countSince(moment: number): number {
    if (this.#dropped > 0 && moment < this.at(this.#dropped + 1)) return Number.POSITIVE_INFINITY;
    let [low, high] = [0, this.#times.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#times[middle] ?? 0) > moment) high = middle;
      else low = middle + 1;
    }
    return this.#times.length - low;
  }
}
