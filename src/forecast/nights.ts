import { AgedPages, type AgeGroup } from './aged-pages.js';
import { fairShares } from './fair-share.js';
import type { Arrivals } from './tonight.js';

/** Ten years: what takes longer is told as never. */
const MAX_NIGHTS = 3650;
/** Bounds the work, however many websites and ages there are. */
const MAX_STEPS = 20_000_000;
/** Less than half of an estimated page is none. */
const NO_PAGES = 0.5;

/** What nights are played through for: one website. */
export interface NightlyWebsite {
  /** Pages whose report may be fetched, and does not keep failing. */
  ages: readonly AgeGroup[];
  /** Pages that wait for a report since earlier nights although they have one. */
  waiting: Pick<Arrivals, 'changed' | 'recrawled'>;
  /** What each listing brings. */
  nightly: Arrivals;
}

export interface NightRules {
  /** Reports a night, of all websites of a key together. */
  capacity: number;
  /** Reports a night of one website. */
  maxPerRun: number;
  /** All reports are to be younger than this many days. */
  youngDays: number;
  /** No report of an unchanged page is fetched again before it is this many days old. */
  refreshDays: number;
}

export interface NightsToYoung {
  /** After how many nights, tonight the first, all reports are young; 0: they are already; null: never. */
  nights: number | null;
  /** Reports that the last night played got, and how many of these for growing old or missing. */
  reports: number;
  refreshed: number;
  /** Pages there are. */
  pages: number;
}

/** Plays nights through until every website of a key has only young reports. */
export function playNights(websites: readonly NightlyWebsite[], rules: NightRules): NightsToYoung[] {
  const oldest = Math.max(1, rules.youngDays, rules.refreshDays);
  const played = websites.map((website) => new PlayedWebsite(website, rules, oldest));
  const steps = played.length * oldest;
  const most = Math.max(1, Math.min(MAX_NIGHTS, Math.floor(MAX_STEPS / Math.max(1, steps))));
  for (let night = 1; night <= most && played.some((website) => website.isOpen); night++) {
    for (const website of played) website.begin(night);
    const shares = fairShares(
      rules.capacity,
      played.map((website) => website.demand),
    );
    for (const [at, website] of played.entries()) website.fetch(shares[at] ?? 0, night);
  }
  return played.map((website) => website.answer);
}

class PlayedWebsite {
  readonly #pages: AgedPages;
  readonly #waiting: NightlyWebsite['waiting'];
  readonly answer: NightsToYoung;

  constructor(
    private readonly website: NightlyWebsite,
    private readonly rules: NightRules,
    oldest: number,
  ) {
    this.#pages = new AgedPages(website.ages, oldest);
    this.#waiting = { ...website.waiting };
    this.answer = { nights: null, reports: 0, refreshed: 0, pages: this.#pages.all };
    this.#endIfYoung(0);
  }

  /** Whether it is still unknown when all its reports are young. */
  get isOpen(): boolean {
    return this.answer.nights === null;
  }

  /** The listing of a night. */
  begin(night: number): void {
    const { missing, changed, recrawled, new: joining } = this.website.nightly;
    if (night > 1) this.#pages.passNight();
    this.#pages.leave(missing);
    this.#pages.join(joining);
    const { all } = this.#pages;
    this.#waiting.changed = Math.min(all, this.#waiting.changed + changed);
    this.#waiting.recrawled = Math.min(all, this.#waiting.recrawled + recrawled);
  }

  /** Reports that are wanted. */
  get demand(): number {
    const { changed, recrawled } = this.#waiting;
    const old = this.#pages.atLeast(this.rules.refreshDays);
    const wanted = changed + this.#pages.withoutReport + Math.max(old, recrawled);
    return Math.min(this.rules.maxPerRun, Math.ceil(Math.min(wanted, this.#pages.all)));
  }

  /** Fetches so many reports in the order of a plan. */
  fetch(reports: number, night: number): void {
    const changed = Math.min(reports, this.#waiting.changed);
    this.#waiting.changed -= changed;
    this.#pages.fetchEvenly(changed);
    const missing = Math.min(reports - changed, this.#pages.withoutReport);
    this.#pages.fetchNew(missing);
    const recrawled = Math.min(reports - changed - missing, this.#waiting.recrawled);
    this.#waiting.recrawled -= recrawled;
    this.#pages.fetchEvenly(recrawled);
    const old = reports - changed - missing - recrawled;
    this.#pages.fetchOldest(old, this.rules.refreshDays);
    Object.assign(this.answer, { reports, refreshed: missing + old, pages: this.#pages.all });
    this.#endIfYoung(night);
  }

  #endIfYoung(night: number): void {
    const notYoung = this.#pages.withoutReport + this.#pages.atLeast(this.rules.youngDays);
    if (this.isOpen && notYoung < NO_PAGES) this.answer.nights = night;
  }
}
