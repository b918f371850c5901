import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { paginationOf } from '../../src/serve/api/pagination.js';
import type { CoverageEntry } from '../../src/source/contract/coverage.js';
import type { KeyDetails } from '../../src/source/contract/key.js';
import type { UrlReport } from '../../src/source/contract/report.js';
import { timeAt } from './client-clock.js';
import { atEnd, type OnFinished } from './folder.js';
import { listenOnLoopback } from './loopback.js';

/** Any token opens the service. */
export const TOKEN = 'demo-token';

const NOT_FOUND: Answer = { status: 404, body: '{"error":"not_found","message":"No such website.","status":404}' };
const DEFAULT_LIMIT = 100;
const NO_ENTRY: Omit<CoverageEntry, 'url'> = {
  index_summary: null,
  index_coverage_state: null,
  searchengine_selected_canonical: null,
  user_selected_canonical: null,
  last_crawl_time: null,
  days_since_last_crawl: null,
  inspection_link: null,
  service_link: null,
};

/** A page as the test wants the service to know it: what is left out is null. */
export interface GivenPage {
  url: string;
  /** Fields of its entry in the listing. */
  entry?: Partial<CoverageEntry>;
  /** Fields of its URL report; null: the service answers 404. */
  report?: Partial<UrlReport> | null;
}

/** An answer written whole, or a function that does with the response what it likes. */
export type Answer =
  | { status?: number; body?: string | Buffer; headers?: Record<string, string> }
  | ((response: ServerResponse) => void);

/** What is asked of a listing; `number` counts the windows of a website from 1. */
interface Window {
  id: string;
  skip: number;
  limit: number | null;
  number: number;
}

export interface ScriptedWebsite {
  listing(window: Window): Answer;
  /** The report of a page whose host begins with the website's id; without it, every page has an honest one. */
  report?(url: string): Answer;
}

export interface ScriptedService {
  url: string;
  /** Every request: path and query. */
  requests: string[];
  /** Sets what a website's listing holds from now on, in this order; its pages may have any address. */
  list(websiteId: string, pages: readonly GivenPage[]): void;
  close(): Promise<void>;
}

/** A service on loopback whose every answer the test writes itself, night by night, until the end. @param most the entries of a window */
export async function startService(
  websites: Record<string, ScriptedWebsite> = {},
  onFinished: OnFinished = atEnd,
  most = Number.POSITIVE_INFINITY,
): Promise<ScriptedService> {
  const scripted = new Map(Object.entries(websites));
  const listed = new Map<string, readonly GivenPage[]>();
  const requests: string[] = [];
  const windows = new Map<string, number>();
  let url = '';
  const reportOf = (page: string): Answer => {
    // The first website that monitors it counts.
    const given = [...listed.values()].flat().find((one) => one.url === page && one.report !== null);
    if (given) return { body: JSON.stringify(givenReport(given)) };
    const website = scripted.get(new URL(page).hostname.split('.')[0] ?? '');
    if (!website) return NOT_FOUND;
    return website.report?.(page) ?? { body: JSON.stringify({ url: page, index_summary: 'Indexed' }) };
  };
  const answerOf = (request: IncomingMessage): Answer => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://scripted');
    const page = searchParams.get('url');
    if (page !== null) return reportOf(page);
    // A website `v1` scripts the key itself.
    if (pathname === '/v1' && !scripted.has('v1'))
      return { body: JSON.stringify(keyTo([...scripted.keys(), ...listed.keys()])) };
    const id = decodeURIComponent(pathname.split('/').at(-1) ?? '');
    const number = (windows.get(id) ?? 0) + 1;
    windows.set(id, number);
    const [skip, limit] = [Number(searchParams.get('skip') ?? 0), searchParams.get('limit')];
    const window = { id, skip, limit: limit === null ? null : Math.min(Number(limit), most), number };
    const pages = listed.get(id);
    return pages ? windowOf(pages.map(entryOf), window) : (scripted.get(id)?.listing(window) ?? NOT_FOUND);
  };
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    response.setHeader('date', new Date(timeAt(url)).toUTCString());
    const answer = answerOf(request);
    if (typeof answer === 'function') return answer(response);
    response.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers });
    response.end(answer.body);
  });
  const listening = await listenOnLoopback(server);
  url = listening.url;
  onFinished(listening.close);
  return { ...listening, requests, list: (websiteId, pages) => void listed.set(websiteId, pages) };
}

/** An entry of the listing. One without a summary has no inspection data, and so no `canonicals_match`. */
export function entryOf({ url, entry = {} }: GivenPage): CoverageEntry {
  const { searchengine_selected_canonical: engine = null, user_selected_canonical: user = null } = entry;
  const match = entry.index_summary ? { canonicals_match: engine === null ? null : engine === user } : {};
  return { url, ...NO_ENTRY, ...match, ...entry };
}

export function givenReport({ url, entry = {}, report = {} }: GivenPage): UrlReport {
  const { index_summary, index_coverage_state } = entry;
  return { url, index_summary, index_coverage_state, ...report };
}

/** A key that may read these websites. */
export function keyTo(websiteIds: string[]): KeyDetails {
  return {
    _id: 'key',
    api_key_label: 'scripted',
    account: { _id: 'account', email: 'account@example.com' },
    websites_access: websiteIds.map((_id) => ({ _id, url: `https://${_id}.example` })),
  };
}

export function pagesOf(id: string, count: number): string[] {
  return Array.from({ length: count }, (_, at) => `https://${id}.example/p${at}`);
}

/** A window as the specification has it, with fields of its pagination object replaced. */
export function windowOf(
  entries: readonly (string | object)[],
  { id, skip, limit }: Omit<Window, 'number'>,
  replaced: object = {},
): { body: string } {
  const size = limit ?? DEFAULT_LIMIT;
  const urls = entries.slice(skip, skip + size).map((entry) => (typeof entry === 'string' ? { url: entry } : entry));
  const honest = paginationOf(`/v1/urls/${encodeURIComponent(id)}`, { skip, limit: size }, entries.length);
  return { body: JSON.stringify({ urls, pagination: { ...honest, ...replaced } }) };
}

/** Half of a body under the length of the whole, and then nothing: the connection breaks. */
export function truncated(body: string): (response: ServerResponse) => void {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) });
    response.write(body.slice(0, body.length / 2), () => setTimeout(() => response.destroy(), 10));
  };
}
