/** How many pages have a report of this age in whole days; null: none yet. */
export interface AgeGroup {
  days: number | null;
  pages: number;
}

/** The pages of a website by the age of their reports, which nights pass over. Fractions of pages are estimates. */
export class AgedPages {
  /** By age in days; the last counts everything that is older, too. */
  readonly #ages: Float64Array;
  #never = 0;

  /** @param oldest ages beyond this many days, at least 1, need not be told apart */
  constructor(groups: readonly AgeGroup[], oldest: number) {
    this.#ages = new Float64Array(Math.ceil(oldest) + 1);
    for (const { days, pages } of groups) {
      if (days === null) this.#never += pages;
      else this.#add(Math.min(Math.max(0, days), this.#ages.length - 1), pages);
    }
  }

  get withoutReport(): number {
    return this.#never;
  }

  get all(): number {
    return this.#never + this.atLeast(0);
  }

  /** Pages with a report of at least this many days. */
  atLeast(days: number): number {
    let sum = 0;
    for (let age = Math.ceil(days); age < this.#ages.length; age++) sum += this.#ages[age] ?? 0;
    return sum;
  }

  passNight(): void {
    const last = this.#ages.length - 1;
    const oldest = (this.#ages[last] ?? 0) + (this.#ages[last - 1] ?? 0);
    this.#ages.copyWithin(1, 0, last);
    this.#ages[0] = 0;
    this.#ages[last] = oldest;
  }

  /** Pages that are monitored from now on, without a report. */
  join(pages: number): void {
    this.#never += pages;
  }

  /** Pages of any age, evenly, are monitored no more. */
  leave(pages: number): void {
    const stay = 1 - share(pages, this.all);
    this.#never *= stay;
    for (let age = 0; age < this.#ages.length; age++) this.#ages[age] = (this.#ages[age] ?? 0) * stay;
  }

  /** Fetches reports of pages of any age, evenly. */
  fetchEvenly(reports: number): void {
    const part = share(reports, this.all);
    this.#fetchNever(this.#never * part);
    for (let age = this.#ages.length - 1; age > 0; age--) this.#fetchAged(age, (this.#ages[age] ?? 0) * part);
  }

  /** Fetches as many missing reports. */
  fetchNew(reports: number): void {
    this.#fetchNever(Math.min(reports, this.#never));
  }

  /** Fetches as many reports anew, the oldest first, down to an age in days. */
  fetchOldest(reports: number, downTo: number): void {
    let left = reports;
    for (let age = this.#ages.length - 1; age >= Math.max(1, Math.ceil(downTo)) && left > 0; age--) {
      const pages = Math.min(left, this.#ages[age] ?? 0);
      this.#fetchAged(age, pages);
      left -= pages;
    }
  }

  #fetchNever(pages: number): void {
    this.#never -= pages;
    this.#add(0, pages);
  }

  #fetchAged(age: number, pages: number): void {
    this.#add(age, -pages);
    this.#add(0, pages);
  }

  #add(age: number, pages: number): void {
    this.#ages[age] = (this.#ages[age] ?? 0) + pages;
  }
}

function share(part: number, all: number): number {
  return all > 0 ? Math.min(1, part / all) : 0;
}
