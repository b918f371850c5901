interface Kept<T> {
  value: Promise<T>;
  users: number;
  /** Whether it stands in the map no more: then it goes with its last user. */
  isOut: boolean;
}

/**
 * What was asked for last, each made once; of more than so many, the one that was longest not asked for goes. Whoever
 * uses it then goes on using it: it is let go of behind its last user.
 */
export class LastAsked<T> {
  readonly #kept = new Map<string, Kept<T>>();

  constructor(
    private readonly most: number,
    private readonly letGo: (value: T) => Promise<void> = async () => {},
  ) {}

  /** Hands to `work` what is kept under a key, or what `make` makes. What could not be made is not kept. */
  async use<R>(key: string, make: () => Promise<T>, work: (value: T) => Promise<R> | R): Promise<R> {
    const kept = this.#kept.get(key) ?? { value: make(), users: 0, isOut: false };
    // Deleted first, so that the map's order of insertion is the order of use.
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    kept.users++;
    try {
      await Promise.all(this.#putOut(this.most).map((out) => this.#letGoUnused(out)));
      const value = await kept.value.catch((error: unknown) => {
        if (this.#kept.get(key) === kept) this.#kept.delete(key);
        throw error;
      });
      return await work(value);
    } finally {
      kept.users--;
      await this.#letGoUnused(kept);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#putOut(0).map((kept) => this.#letGoUnused(kept)));
  }

  #putOut(most: number): Kept<T>[] {
    const out = [...this.#kept].slice(0, Math.max(0, this.#kept.size - most));
    for (const [key, kept] of out) {
      this.#kept.delete(key);
      kept.isOut = true;
    }
    return out.map(([, kept]) => kept);
  }

  async #letGoUnused({ value, users, isOut }: Kept<T>): Promise<void> {
    if (!isOut || users > 0) return;
    await value.then(this.letGo, () => {});
  }
}
