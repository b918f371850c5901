const WINDOW_MS = 60_000;
const ATTEMPTS_A_WINDOW = 10;
/** Addresses that are remembered; beyond it those whose window began first are forgotten. */
const MOST_ADDRESSES = 10_000;

interface Window {
  startedAt: number;
  failed: number;
}

/** Counts wrong keys by the address that they come from: after ten in a minute it has to wait for the next one. */
export class Attempts {
  readonly #windows = new Map<string, Window>();

  constructor(private readonly now: () => number) {}

  /** Counts an attempt as failed until it is known to be none, so that many at once are no way round. */
  begin(address: string): { allowed: true } | { allowed: false; retryAfterS: number } {
    const window = this.#windowOf(address);
    if (window.failed >= ATTEMPTS_A_WINDOW) {
      const retryAfterS = Math.ceil((window.startedAt + WINDOW_MS - this.now()) / 1000);
      return { allowed: false, retryAfterS: Math.max(1, retryAfterS) };
    }
    window.failed++;
    return { allowed: true };
  }

  /** Takes back the attempt that was one with a known key; those before it stay counted. */
  succeeded(address: string): void {
    const window = this.#windows.get(address);
    if (window && window.failed > 0) window.failed--;
  }

  #windowOf(address: string): Window {
    const known = this.#windows.get(address);
    if (known && this.now() - known.startedAt < WINDOW_MS) return known;
    this.#windows.delete(address);
    const [first] = this.#windows.keys();
    if (first !== undefined && this.#windows.size >= MOST_ADDRESSES) this.#windows.delete(first);
    const fresh = { startedAt: this.now(), failed: 0 };
    this.#windows.set(address, fresh);
    return fresh;
  }
}
