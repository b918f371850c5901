import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { addDays, DAY_MS } from '../../src/base/time.js';
import { SEARCH_TYPES } from '../../src/source/source.js';
import { realRunEffects } from '../../src/sync/context.js';
import type { WebsiteReceipt } from '../../src/sync/receipt.js';
import { openReader, rowsOf } from '../answers/query/given.js';
import { writeConfig } from '../given/config-file.js';
import { type OnFinished, temporaryFolder } from '../given/folder.js';
import { listenOnLoopback } from '../given/loopback.js';
import { syncNow } from '../given/synced.js';
import { findingsOf } from '../given/verified.js';
import { givenSchemas, noFollowers } from '../given/warehouse.js';
import { credentialsFile, serviceAccount } from '../source/search-console/fake-google.js';

export const SHOP = 'https://shop.example';
export const PROPERTY = 'sc-domain:shop.example';
export const SITEMAP = `${SHOP}/sitemap.xml`;
const FIRST_NIGHT_MS = Date.parse('2026-03-01T10:00:00Z');

type SearchedPage = readonly [page: string, clicks: number, impressions: number, position: number];

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
  sites?: Readonly<Record<string, string>>;
  /** Whether an inspection is refused with a 403. */
  refuses?(url: string, siteUrl: string): boolean;
}

const inspectionAsked = z.strictObject({
  inspectionUrl: z.url(),
  siteUrl: z.string(),
  languageCode: z.literal('en-US'),
});
const searchAsked = z.strictObject({
  startDate: z.iso.date(),
  endDate: z.iso.date(),
  type: z.enum(SEARCH_TYPES),
  dataState: z.enum(['final', 'all']),
  dimensions: z.tuple([z.enum(['date', 'page'])]),
  aggregationType: z.literal('byPage').optional(),
  rowLimit: z.int().max(25_000),
  startRow: z.int().default(0),
});

class Refused extends Error {
  constructor(
    message: string,
    readonly status = 403,
  ) {
    super(message);
  }
}

/** A property on loopback that answers as a script says, and refuses what Google would; its nights are a day apart. */
export async function scriptedProperty(onFinished: OnFinished, entry: object | object[] | 'all' = {}, settings = {}) {
  let script: ScriptedNight = {};
  let night = -1;
  const inspected: string[] = [];
  /** The property of each inspection, how often the list of properties was asked for, and the days that were. */
  const calls: { through: string[]; lists: number; searched: string[] } = { through: [], lists: 0, searched: [] };
  const readable = (siteUrl: string) => {
    const { sites = { [PROPERTY]: 'siteFullUser' } } = script;
    if ((sites[siteUrl] ?? 'siteUnverifiedUser') === 'siteUnverifiedUser') throw new Refused(`not yours: ${siteUrl}`);
  };
  const day = (daysAgo: number) => new Date(FIRST_NIGHT_MS + (night - daysAgo) * DAY_MS).toISOString().slice(0, 10);
  const shownOn = (date: string, type: string) => {
    const { traffic = [], search = (date, type) => (date === day(3) && type === 'web' ? traffic : []) } = script;
    return search(date, type);
  };
  const searched = ({ startDate, endDate, type, dimensions, rowLimit, startRow }: z.infer<typeof searchAsked>) => {
    calls.searched.push([type, dimensions[0], startDate].join(' '));
    const figures = ([page, clicks, impressions, position]: SearchedPage) => {
      return { keys: [page], clicks, impressions, ctr: 0, position };
    };
    if (type === script.refusedType) throw new Refused(`no ${type}`, 400);
    if (dimensions[0] === 'page') {
      const shown = shownOn(startDate, type);
      if (typeof shown === 'number') throw new Refused(`no ${startDate}`, shown);
      return { rows: shown.slice(startRow, startRow + rowLimit).map(figures) };
    }
    const rows = [];
    for (let date = startDate; date <= endDate; date = addDays(date, 1)) {
      const shown = shownOn(date, type);
      const pages = typeof shown === 'number' ? [[date, 1, 1, 1] as const] : shown;
      const sum = (of: 1 | 2) => pages.reduce((all, page) => all + page[of], 0);
      if (pages.length > 0) rows.push(figures([date, sum(1), sum(2), 1]));
    }
    return { rows, metadata: { first_incomplete_date: day(2) } };
  };
  const answer = (line: string, body: string): unknown => {
    if (line === 'POST /token') return { access_token: 'ya29.a-token-of-this-test', expires_in: 3599 };
    if (line === 'GET /webmasters/v3/sites') {
      calls.lists++;
      const sites = Object.entries(script.sites ?? { [PROPERTY]: 'siteFullUser' });
      return { siteEntry: sites.map(([siteUrl, permissionLevel]) => ({ siteUrl, permissionLevel })) };
    }
    const [, site = '', encoded = ''] = /^\w+ (\/webmasters\/v3\/sites\/([^/]+))\//.exec(line) ?? [];
    if (encoded) readable(decodeURIComponent(encoded));
    if (line === `GET ${site}/sitemaps`) {
      return { sitemap: [SITEMAP, ...Object.keys(script.sitemaps ?? {})].map((path) => ({ path, errors: '0' })) };
    }
    if (line === `POST ${site}/searchAnalytics/query`) {
      return searched(searchAsked.parse(JSON.parse(body)));
    }
    if (line !== 'POST /v1/urlInspection/index:inspect') return null;
    const { inspectionUrl: url, siteUrl } = inspectionAsked.parse(JSON.parse(body));
    calls.through.push(siteUrl);
    readable(siteUrl);
    if (script.refuses?.(url, siteUrl))
      throw new Refused('You do not own this site, or the inspected URL is not part of this property.');
    inspected.push(url);
    const result = script.inspect?.(url) ?? indexed(url);
    return { inspectionResult: { inspectionResultLink: linkOf(url, night), indexStatusResult: result } };
  };
  const reply = async (request: IncomingMessage, response: ServerResponse) => {
    const host = `${request.headers.host}`;
    const body = await text(request);
    response.setHeader('date', new Date(FIRST_NIGHT_MS + night * DAY_MS).toUTCString());
    if (!host.startsWith('127.')) {
      const files: Record<string, readonly string[]> = { [SITEMAP]: script.sitemap ?? [], ...script.sitemaps };
      const address = `https://${host}${request.url}`;
      const given = script.files?.[address] ?? (files[address] && urlset(files[address])) ?? 404;
      return void (typeof given === 'number' ? response.writeHead(given).end() : response.end(given));
    }
    try {
      const said = answer(`${request.method} ${request.url}`, body);
      response.writeHead(said ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(said));
    } catch (error) {
      const [code, status] = error instanceof Refused ? [error.status, 'PERMISSION_DENIED'] : [400, 'INVALID_ARGUMENT'];
      const refused = { error: { code, status, message: String(error) } };
      response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(refused));
    }
  };
  const server = createServer((request, response) => void reply(request, response));
  const { url, close } = await listenOnLoopback(server);
  onFinished(close);
  const folder = temporaryFolder(onFinished);
  const warehouse = join(folder, 'warehouse');
  const credentials = credentialsFile({ ...serviceAccount(), token_uri: `${url}/token` });
  const google = { credentials, endpoint: url, requests_per_minute: 100_000, concurrency: 8, ...settings };
  const named = (entries: object[]) => entries.map((one) => ({ id: PROPERTY, source: 'google', ...one }));
  const websites = entry === 'all' ? { all: true, source: 'google' } : named([entry].flat());
  const config = writeConfig(folder, { sections: { google, websites } });
  return {
    config,
    warehouse,
    calls,
    /** Lives through the next night. @param pages to inspect no others @returns its receipt, and the addresses that were inspected */
    async pass(said: ScriptedNight, pages?: string[], days = 1): Promise<WebsiteReceipt & { inspected: string[] }> {
      [script, night] = [said, night + days];
      inspected.length = 0;
      Object.assign(calls, { through: [], lists: 0, searched: [] });
      await givenSchemas(warehouse);
      const now = () => FIRST_NIGHT_MS + night * DAY_MS;
      const asked = pages && new Map([[PROPERTY, pages]]);
      const { websites } = await syncNow(config, { asked, effects: { ...realRunEffects, now, follow: noFollowers } });
      if (!websites[0]) throw new Error('no website in the receipt');
      return { ...websites[0], inspected: inspected.toSorted() };
    },
    rows: async (sql: string) => rowsOf(await openReader(warehouse, onFinished), sql),
    wrong: async () => (await findingsOf(warehouse)).filter(({ level }) => level !== 'lag'),
  };
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
