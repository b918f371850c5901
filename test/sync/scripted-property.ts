import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import type { Reader } from '../../src/answers/query/reader.js';
import type { PropertyOptions } from '../../src/app/demo/search-console/properties.js';
import { type SearchConsoleOptions, startSearchConsole } from '../../src/app/demo/search-console/search-console.js';
import { addDays, DAY_MS } from '../../src/base/time.js';
import { SEARCH_TYPES } from '../../src/source/source.js';
import { type RunLimits, realRunEffects } from '../../src/sync/context.js';
import type { Receipt, WebsiteReceipt } from '../../src/sync/receipt.js';
import { openReader, rowsOf } from '../answers/query/given.js';
import { writeConfig } from '../given/config-file.js';
import { type OnFinished, temporaryFolder } from '../given/folder.js';
import { type ScriptedAnswer, type ScriptedCall, scripted } from '../given/scripted.js';
import { syncNow } from '../given/synced.js';
import { findingsOf } from '../given/verified.js';
import { givenSchemas, noFollowers } from '../given/warehouse.js';
import { NO_PAGES, refusal } from '../source/search-console/given-google.js';

export const SHOP = 'https://shop.example';
export const PROPERTY = 'sc-domain:shop.example';
export const SITEMAP = `${SHOP}/sitemap.xml`;

export const WITHOUT_LIMITS = { inspectionsPerDay: 1e6, inspectionsPerMinute: 1e6, queriesPerMinute: 1e6 };

export type Permission = NonNullable<PropertyOptions['permissionLevel']>;
type SearchedPage = readonly [page: string, clicks: number, impressions: number, position?: number];

/** What Search Console and the site say in one night. */
export interface ScriptedNight {
  /** The entries of `sitemap.xml`: addresses, each with its `lastmod` behind a blank, if it has one. */
  sitemap?: readonly string[];
  /** Other sitemaps that Search Console lists, by their addresses. */
  sitemaps?: Readonly<Record<string, readonly string[]>>;
  /** By address, what stands for a sitemap or lies beside it: a body, or a status. */
  files?: Readonly<Record<string, string | number>>;
  /** Rows of search analytics: those of web search on the last final day, three days ago. */
  traffic?: readonly SearchedPage[];
  /** The same of any day; it replaces `traffic`. A status is a refusal. */
  search?(date: string, type: string): readonly SearchedPage[] | number;
  /** The type of search of which nothing can be read. */
  refusedType?: string;
  /** An `indexStatusResult`; by default the page is indexed, and was crawled on the day before the first night. */
  inspect?(url: string): object;
  /** The properties that the account sees, as Google spells them, with its permissions. */
  sites?: Readonly<Record<string, Permission>>;
}

const inspectionAsked = z.object({ inspectionUrl: z.url(), siteUrl: z.string(), languageCode: z.literal('en-US') });
const searchAsked = z.object({
  startDate: z.iso.date(),
  endDate: z.iso.date(),
  type: z.enum(SEARCH_TYPES),
  dimensions: z.tuple([z.enum(['date', 'page'])]),
  rowLimit: z.int(),
  startRow: z.int().default(0),
});

/** How a night ended: the receipts of its first website and of all, and what was inspected. */
type Ended = WebsiteReceipt & { inspected: string[]; websites: Receipt['websites'] };

/** The time of nights that begin at ten o'clock. It moves from night to night, and by every wait. */
export function clockFrom(date: string) {
  const began = Date.parse(`${date}T10:00:00Z`);
  let [days, slept] = [0, 0];
  const now = () => began + days * DAY_MS + slept;
  const sleep = async (ms: number) => {
    const until = now() + ms;
    await setImmediate();
    slept += Math.max(0, until - now());
  };
  const pass = (more: number) => {
    [days, slept] = [days + more, 0];
  };
  return { now, sleep, pass, effects: { ...realRunEffects, now, sleep, follow: noFollowers } };
}

/** Search Console on loopback, and what a configuration says of it. */
export async function startGoogle(options: SearchConsoleOptions, onFinished: OnFinished) {
  const service = await startSearchConsole(options);
  onFinished(() => service.close());
  const google = { credentials: await service.credentials(), endpoint: service.url, requests_per_minute: 100_000 };
  return { service, google };
}

/** A property that answers as a script says, and refuses what Google would; its nights are a day apart. */
export async function scriptedProperty(
  onFinished: OnFinished,
  entry: object | object[] | 'all' = {},
  settings = {},
  limits: Partial<RunLimits> = {},
) {
  let script: ScriptedNight = {};
  let night = -1;
  const inspected: string[] = [];
  /** The property of each inspection, how often the list of properties was asked for, and the days that were. */
  const calls: { through: string[]; lists: number; searched: string[] } = { through: [], lists: 0, searched: [] };
  const clock = clockFrom('2026-02-28');
  const day = (daysAgo: number) => new Date(clock.now() - daysAgo * DAY_MS).toISOString().slice(0, 10);
  const shownOn = (date: string, type: string) => {
    const { traffic = [], search = (date, type) => (date === day(3) && type === 'web' ? traffic : []) } = script;
    return search(date, type);
  };
  const searched = ({ startDate, endDate, type, dimensions, rowLimit, startRow }: z.infer<typeof searchAsked>) => {
    calls.searched.push([type, dimensions[0], startDate].join(' '));
    const figures = ([page, clicks, impressions, position]: SearchedPage) => {
      return { keys: [page], clicks, impressions, ctr: 0, ...(position === undefined ? {} : { position }) };
    };
    if (type === script.refusedType) return refusal(400, 'INVALID_ARGUMENT', `no ${type}`);
    if (dimensions[0] === 'page') {
      const shown = shownOn(startDate, type);
      if (typeof shown === 'number') return refusal(shown, 'INVALID_ARGUMENT', `no ${startDate}`);
      return { body: { rows: shown.slice(startRow, startRow + rowLimit).map(figures) } };
    }
    const rows = [];
    for (let date = startDate; date <= endDate; date = addDays(date, 1)) {
      const shown = shownOn(date, type);
      const pages = typeof shown === 'number' ? [[date, 1, 1, 1] as const] : shown;
      const sum = (of: 1 | 2) => pages.reduce((all, page) => all + page[of], 0);
      if (pages.length > 0) rows.push(figures([date, sum(1), sum(2), 1]));
    }
    return { body: { rows, metadata: { first_incomplete_date: day(2) } } };
  };
  const inspect = (body: unknown, status: number) => {
    const { inspectionUrl: url, siteUrl } = inspectionAsked.parse(body);
    calls.through.push(siteUrl);
    if (status !== 200) return undefined;
    inspected.push(url);
    const indexStatusResult = script.inspect?.(url) ?? indexed(url);
    return { body: { inspectionResult: { inspectionResultLink: linkOf(url, night), indexStatusResult } } };
  };
  const answer = ({ line, host, body, status }: ScriptedCall): ScriptedAnswer | undefined => {
    if (!host.startsWith('127.')) return fileOf(script, `https://${host}${line.replace('GET ', '')}`);
    if (line.endsWith('/sites')) calls.lists++;
    if (line.endsWith(':inspect')) return inspect(body, status);
    if (status !== 200) return undefined;
    if (line.endsWith('/query')) return searched(searchAsked.parse(body));
    const listed = [SITEMAP, ...Object.keys(script.sitemaps ?? {})].map((path) => ({ path, errors: '0' }));
    return line.endsWith('/sitemaps') ? { body: { sitemap: listed } } : undefined;
  };
  const options = { clock: clock.now, setup: scripted(answer), websites: NO_PAGES, ...WITHOUT_LIMITS };
  const { service, google } = await startGoogle(options, onFinished);
  const folder = temporaryFolder(onFinished);
  const warehouse = join(folder, 'warehouse');
  const named = (entries: object[]) => entries.map((one) => ({ id: PROPERTY, source: 'google', ...one }));
  const websites = entry === 'all' ? { all: true, source: 'google' } : named([entry].flat());
  const config = writeConfig(folder, { sections: { google: { ...google, ...settings }, websites } });
  let open: Promise<Reader> | null = null;
  /** Of the newest night. */
  const reader = () => (open ??= openReader(warehouse, onFinished));
  return {
    config,
    warehouse,
    calls,
    effects: clock.effects,
    /** Lives through the next night, or goes on with it if no day passes */
    async pass(said: ScriptedNight, days = 1): Promise<Ended> {
      [script, night, open] = [said, night + days, null];
      clock.pass(days);
      inspected.length = 0;
      Object.assign(calls, { through: [], lists: 0, searched: [] });
      const sites = Object.entries<Permission>(said.sites ?? { [PROPERTY]: 'siteOwner' });
      service.setProperties(sites.map(([siteUrl, permissionLevel]) => ({ siteUrl, permissionLevel })));
      await givenSchemas(warehouse);
      const { websites } = await syncNow(config, { limits, effects: clock.effects });
      if (!websites[0]) throw new Error('no website in the receipt');
      return { ...websites[0], inspected: inspected.toSorted(), websites };
    },
    reader,
    rows: async (sql: string) => rowsOf(await reader(), sql),
    wrong: async () => (await findingsOf(warehouse)).filter(({ level }) => level !== 'lag'),
  };
}

/** A sitemap of a script, or what stands for it. */
function fileOf({ sitemap = [], sitemaps, files }: ScriptedNight, address: string): ScriptedAnswer {
  const listed = { [SITEMAP]: sitemap, ...sitemaps }[address];
  const given = files?.[address] ?? (listed && urlset(listed)) ?? 404;
  return typeof given === 'number' ? { status: given } : { body: given };
}

/** What Google says of an indexed page. */
export function indexed(url: string, more: object = {}): object {
  return {
    ...{ verdict: 'PASS', coverageState: 'Submitted and indexed', lastCrawlTime: '2026-02-28T10:00:00Z' },
    ...{ googleCanonical: url, userCanonical: url, pageFetchState: 'SUCCESSFUL', crawledAs: 'MOBILE', ...more },
  };
}

export function linkOf(url: string, night: number): string {
  return `https://search.google.com/search-console/inspect?id=${encodeURIComponent(url)}-${night}`;
}

export function urlset(entries: readonly string[]): string {
  const lines = entries.map((entry) => {
    const [loc, lastmod] = entry.split(' ');
    return `<url><loc>${loc}</loc>${lastmod ? `<lastmod>${lastmod}</lastmod>` : ''}</url>`;
  });
  return `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${lines.join('')}</urlset>`;
}
