import { calendarDate } from '../../../base/time.js';
import { ServiceError } from '../../../serve/api/errors.js';
import { isOfProperty } from '../../../source/search-console/property.js';
import type { World } from '../simulator/world.js';

/** How much may be inspected of one property. */
export interface Quota {
  /** In Pacific time (default 2,000). */
  inspectionsPerDay?: number;
  /** Default 600. */
  inspectionsPerMinute?: number;
  /** How much of a day's quota another tool uses up (default 0). */
  usedElsewhere?: number;
}

export interface PropertyOptions extends Quota {
  siteUrl: string;
  /** Default `siteOwner`. A restricted user may read, and inspects nothing. */
  permissionLevel?: 'siteOwner' | 'siteRestrictedUser' | 'siteUnverifiedUser';
}

export type Property = ReturnType<typeof propertyOf>;

/** A property that the credentials see, and what is left of its quotas. */
export function propertyOf(world: World, clock: () => number, options: PropertyOptions) {
  const { siteUrl, permissionLevel = 'siteOwner', usedElsewhere = 0 } = options;
  const { inspectionsPerDay = 2000, inspectionsPerMinute = 600 } = options;
  const address = siteUrl.replace(/^sc-domain:/, 'https://');
  const website = world.websites.find(({ domain }) => isOfProperty(`sc-domain:${domain}`, address));
  const used = new Map<string, number>();
  return {
    siteUrl,
    permissionLevel,
    /** Null where the world has no such site. */
    website: website ? world.website(website.id) : null,
    /** Takes one inspection of the quotas, or refuses it, which costs nothing. */
    spend(): void {
      const now = clock();
      const minute = new Date(now).toISOString().slice(0, 16);
      const limits = { [pacificDate(now)]: inspectionsPerDay - usedElsewhere, [minute]: inspectionsPerMinute };
      const left = Object.entries(limits).map(([period, limit]) => limit - (used.get(period) ?? 0));
      if (Math.min(...left) < 1) throw new ServiceError(429, `Quota exceeded for ${siteUrl}.`);
      for (const period of Object.keys(limits)) used.set(period, (used.get(period) ?? 0) + 1);
    },
  };
}

/** The date in California, where the days of Search Console begin and end. */
export function pacificDate(ms: number): string {
  return calendarDate(new Date(ms), 'America/Los_Angeles');
}
