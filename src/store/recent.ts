/** What was asked for last, up to so many. */
export class Recent<T> {
  readonly #kept = new Map<string, T>();

  constructor(private readonly most: number) {}

  has(key: string): boolean {
    return this.#kept.has(key);
  }

  get(key: string): T | undefined {
    const value = this.#kept.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  set(key: string, value: T): void {
    // Deleted first, so that the map's order of insertion is the order of use.
    this.#kept.delete(key);
    this.#kept.set(key, value);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.most) return;
      this.#kept.delete(oldest);
    }
  }
}
