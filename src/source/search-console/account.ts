import { scopeOf } from '../../base/config/google.js';
import { MINUTE_MS } from '../../base/time.js';
import { type Purpose, uncounted } from '../client.js';
import type { GoogleClientOptions } from './access.js';
import { listSites, type Site } from './calls.js';
import { GoogleClient } from './google-client.js';
import { isReadable } from './property.js';
import { californiaDate } from './search-analytics.js';

/** At most this share of a day is held back for second looks. */
const MOST_HELD = 0.2;

/** What all websites of one account share: its client, its list of properties, and what is left of the day, which all accounts share. */
export class Account {
  #sites: Promise<Site[]> | null = null;

  constructor(
    readonly client: GoogleClient,
    readonly day: InspectionDay,
  ) {}

  /** Every property that the account sees; Google is asked once. @throws SourceError */
  sites(purpose: Purpose): Promise<Site[]> {
    this.#sites ??= listSites(this.client, purpose).catch((error) => {
      this.#sites = null;
      throw error;
    });
    return this.#sites;
  }
}

/** The properties that an account may read. @throws SourceError; `Stopped` */
export async function readableSites(options: Pick<GoogleClientOptions, 'google' | 'signal'>): Promise<Site[]> {
  const client = new GoogleClient({ ...options, timeout: MINUTE_MS, maxAttempts: 2 });
  try {
    return (await listSites(client, uncounted())).filter(isReadable);
  } finally {
    await client.close();
  }
}

/** How many inspections of each property are used on this day of California, whichever website they were for. */
export class InspectionDay {
  #date = '';
  /** By scope, as Google's spelling of a property may change. */
  readonly #used = new Map<string, number>();
  readonly #held = new Map<string, number>();

  /** @param now milliseconds since 1970 */
  constructor(private readonly now: () => number) {}

  /** Counts inspections; less than none gives them back. */
  count(property: string, inspections = 1): void {
    this.#turn();
    add(this.#used, property, inspections);
  }

  /** Holds inspections back for second looks; less than none sets them free. */
  hold(property: string, inspections: number): void {
    this.#turn();
    add(this.#held, property, inspections);
  }

  /** What is left for first looks. */
  free(quota: { property: string; perDay: number }): number {
    const held = this.#held.get(scopeOf(quota.property) ?? quota.property) ?? 0;
    return Math.max(0, this.left(quota) - Math.min(held, Math.ceil(quota.perDay * MOST_HELD)));
  }

  left({ property, perDay }: { property: string; perDay: number }): number {
    this.#turn();
    return Math.max(0, perDay - (this.#used.get(scopeOf(property) ?? property) ?? 0));
  }

  get today(): string {
    return californiaDate(this.now());
  }

  /** Whether a moment is on this day. */
  isNow(at: string): boolean {
    return californiaDate(Date.parse(at)) === this.today;
  }

  #turn(): void {
    const date = this.today;
    if (date !== this.#date) for (const counts of [this.#used, this.#held]) counts.clear();
    this.#date = date;
  }
}

function add(counts: Map<string, number>, property: string, more: number): void {
  const scope = scopeOf(property) ?? property;
  counts.set(scope, Math.max(0, (counts.get(scope) ?? 0) + more));
}
