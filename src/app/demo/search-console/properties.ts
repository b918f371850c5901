import { HOUR_MS, MINUTE_MS } from '../../../base/time.js';
import { FixedWindow } from '../../../serve/api/rate-limit.js';
import { calendarDate } from '../../../warehouse/log/folder/dates.js';
import { hashText } from '../simulator/random.js';
import type { SimulatedWebsite } from '../simulator/website.js';
import type { World } from '../simulator/world.js';
import { Refusal } from './refusals.js';

const PROJECT_PER_MINUTE = 15_000;

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
  /** Default `siteOwner`. */
  permissionLevel?: 'siteOwner' | 'siteFullUser' | 'siteRestrictedUser' | 'siteUnverifiedUser';
}

export type Property = ReturnType<typeof propertyOf>;
export type Properties = ReturnType<typeof propertiesOf>;

/** The properties that the credentials see, and what is left of their quotas. */
export function propertiesOf(world: World, all: readonly PropertyOptions[], clock: () => number) {
  const websites = world.websites.map(({ id }) => world.website(id));
  const bySiteUrl = new Map(all.map((options) => [options.siteUrl, propertyOf(options, websites)]));
  const project = new FixedWindow(PROJECT_PER_MINUTE, nextMinute);
  const sites = [...bySiteUrl.values()].map(({ siteUrl, permissionLevel }) => ({ siteUrl, permissionLevel }));
  return {
    /** In no order that means anything. */
    sites: sites.sort((a, b) => hashText(1, a.siteUrl) - hashText(1, b.siteUrl)),
    /** The property, if it may be read; otherwise a 403 with this text. */
    readable(siteUrl: string, refusal: string): Property {
      const property = bySiteUrl.get(siteUrl);
      if (!property || property.permissionLevel === 'siteUnverifiedUser') throw new Refusal(403, refusal);
      return property;
    },
    /** Takes one inspection of the quotas, or refuses it, which costs nothing. */
    spend({ siteUrl, day, minute }: Property): void {
      const [meters, now] = [[project, day, minute], clock()];
      if (meters.some((meter) => meter.left(now) < 1)) throw new Refusal(429, `Quota exceeded for ${siteUrl}.`);
      for (const meter of meters) meter.take(now);
    },
  };
}

/** Whether an address belongs to a property: to a host below its domain, or to what begins with its prefix. */
export function isPartOf(siteUrl: string, { href, hostname }: URL): boolean {
  const domain = /^sc-domain:(.+)$/.exec(siteUrl)?.[1];
  return domain === undefined ? href.startsWith(siteUrl) : hostname === domain || hostname.endsWith(`.${domain}`);
}

/** The date in California, where the days of Search Console begin and end. */
export function pacificDate(ms: number): string {
  return calendarDate(new Date(ms), 'America/Los_Angeles');
}

function propertyOf(options: PropertyOptions, websites: readonly SimulatedWebsite[]) {
  const { siteUrl, permissionLevel = 'siteOwner', inspectionsPerDay = 2000, usedElsewhere = 0 } = options;
  const at = new URL(siteUrl.replace(/^sc-domain:/, 'https://'));
  return {
    siteUrl,
    permissionLevel,
    /** Null where the world has no such site. */
    website: websites.find(({ settings }) => isPartOf(`sc-domain:${settings.domain}`, at)) ?? null,
    day: new FixedWindow(inspectionsPerDay - usedElsewhere, nextPacificMidnight),
    minute: new FixedWindow(options.inspectionsPerMinute ?? 600, nextMinute),
  };
}

function nextMinute(now: number): number {
  return now + MINUTE_MS;
}

function nextPacificMidnight(now: number): number {
  let next = Math.floor(now / HOUR_MS) * HOUR_MS + HOUR_MS;
  while (pacificDate(next) === pacificDate(now)) next += HOUR_MS;
  return next;
}
