import { ServiceError } from '../../../serve/api/errors.js';
import { isOfProperty } from '../../../source/search-console/property.js';
import { LoadRefused } from '../simulator/faults.js';
import type { World } from '../simulator/world.js';
import { type DayFault, pacificDate, SearchTraffic } from './traffic.js';

/** How much may be inspected of one property. */
export interface Quota {
  /** In Pacific time (default 2,000). */
  inspectionsPerDay?: number;
  /** Default 600. */
  inspectionsPerMinute?: number;
  /** How much of a day's quota another tool uses up (default 0). */
  usedElsewhere?: number;
  /**
   * With more inspections under way, Google degrades: for four seconds each finds a page unknown. Default: never; it takes
   * a latency.
   */
  soundAtOnce?: number;
  /** Of search analytics (default 1,200). */
  queriesPerMinute?: number;
  /** The most pages that a day and type of search analytics has (default 50,000). */
  rowsPerDay?: number;
  /** Days of search analytics that are late, missing or corrected later. */
  days?: readonly DayFault[];
}

/** How long answers stay degraded after a burst. */
const DEGRADED_MS = 4_000;

export interface PropertyOptions extends Quota {
  siteUrl: string;
  /** Default `siteOwner`. A restricted user may read, and inspects nothing. */
  permissionLevel?: 'siteOwner' | 'siteRestrictedUser' | 'siteUnverifiedUser';
}

export type Property = ReturnType<typeof propertyOf>;

/** A property that the credentials see, and what is left of its quotas. */
export function propertyOf(world: World, clock: () => number, options: PropertyOptions) {
  const { siteUrl, permissionLevel = 'siteOwner', usedElsewhere = 0, soundAtOnce = Number.POSITIVE_INFINITY } = options;
  const { inspectionsPerDay = 2000, inspectionsPerMinute = 600 } = options;
  const { queriesPerMinute = 1200, rowsPerDay = 50_000, days = [] } = options;
  const address = siteUrl.replace(/^sc-domain:/, 'https://');
  const known = world.websites.find(({ domain }) => isOfProperty(`sc-domain:${domain}`, address));
  const website = known ? world.website(known.id) : null;
  const used = new Map<string, number>();
  let refused = 0;
  let [underWay, degradedUntil] = [0, 0];
  /** Whether each limit had one left; then it is used. */
  const take = (limits: Readonly<Record<string, number>>): boolean => {
    const hasLeft = Object.entries(limits).every(([period, limit]) => (used.get(period) ?? 0) < limit);
    for (const period of hasLeft ? Object.keys(limits) : []) used.set(period, (used.get(period) ?? 0) + 1);
    return hasLeft;
  };
  const minuteOf = (ms: number): string => new Date(ms).toISOString().slice(0, 16);
  return {
    siteUrl,
    permissionLevel,
    /** Null where the world has no such site. */
    website,
    traffic: website && new SearchTraffic(world, website, siteUrl, { rowsPerDay, days }),
    /** Takes one inspection of the quotas, or refuses it, which costs nothing. */
    spend(): void {
      const now = clock();
      const limits = { [pacificDate(now)]: inspectionsPerDay - usedElsewhere, [minuteOf(now)]: inspectionsPerMinute };
      if (!take(limits)) throw new ServiceError(429, `Quota exceeded for ${siteUrl}.`);
    },
    /** Begins an inspection. @returns whether its answer is sound */
    begin(): boolean {
      if (++underWay > soundAtOnce) degradedUntil = clock() + DEGRADED_MS;
      return clock() >= degradedUntil;
    },
    end(): void {
      underWay--;
    },
    /** Takes one query of the quota, or refuses it. */
    query(): void {
      if (!take({ [`queries ${minuteOf(clock())}`]: queriesPerMinute })) throw new LoadRefused(refused++);
    },
  };
}
