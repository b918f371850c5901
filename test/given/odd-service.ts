import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { timeAt } from './client-clock.js';

/** An answer written whole, or a function that does with the response what it likes. */
export type OddAnswer = { status?: number; body?: string | Buffer; headers?: Record<string, string> } | Odd;
type Odd = (response: ServerResponse) => void;

export interface OddWebsite {
  /** One window; `number` counts from 1. */
  listing(window: { skip: number; limit: number | null; number: number }): OddAnswer;
  /** One report; without it, every page has an honest one. */
  report?(url: string): OddAnswer;
}

export interface OddService {
  url: string;
  /** Every request: path and query. */
  requests: string[];
  close(): Promise<void>;
}

/**
 * A service on loopback that answers for each website as the test says. A page belongs to the website that its host
 * begins with: `https://good.example/…` to `good`.
 */
export async function startOddService(websites: Record<string, OddWebsite>): Promise<OddService> {
  let url = '';
  const requests: string[] = [];
  const windows = new Map<string, number>();
  const answerOf = (request: IncomingMessage): OddAnswer => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://odd');
    const page = searchParams.get('url');
    if (page !== null) {
      const website = websites[new URL(page).hostname.split('.')[0] ?? ''];
      return website?.report?.(page) ?? { body: JSON.stringify({ url: page, index_summary: 'Indexed' }) };
    }
    const id = decodeURIComponent(pathname.split('/').at(-1) ?? '');
    const number = (windows.get(id) ?? 0) + 1;
    windows.set(id, number);
    const limit = searchParams.get('limit');
    const window = {
      skip: Number(searchParams.get('skip') ?? 0),
      limit: limit === null ? null : Number(limit),
      number,
    };
    return (
      websites[id]?.listing(window) ?? {
        status: 404,
        body: '{"error":"not_found","message":"No such website.","status":404}',
      }
    );
  };
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    response.setHeader('date', new Date(timeAt(url)).toUTCString());
    const answer = answerOf(request);
    if (typeof answer === 'function') return answer(response);
    response.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers });
    response.end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  return {
    url,
    requests,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function pagesOf(id: string, count: number): string[] {
  return Array.from({ length: count }, (_, at) => `https://${id}.example/p${at}`);
}

/** A window as the specification has it, with fields of its pagination object replaced. */
export function windowOf(
  entries: readonly (string | object)[],
  { skip, limit }: { skip: number; limit: number | null },
  pagination: object = {},
): { body: string } {
  const size = limit ?? 100;
  const end = skip + size >= entries.length;
  const id = typeof entries[0] === 'string' ? new URL(entries[0]).hostname.split('.')[0] : 'x';
  const urls = entries.slice(skip, skip + size).map((entry) => (typeof entry === 'string' ? { url: entry } : entry));
  const next = end ? null : `/v1/urls/${id}?skip=${skip + size}&limit=${size}`;
  const honest = { next_page: next, prev_page: null, end, count: entries.length, skip, limit: size };
  const pages = { current_page: 1, total_page: Math.max(1, Math.ceil(entries.length / size)) };
  return { body: JSON.stringify({ urls, pagination: { ...honest, ...pages, ...pagination } }) };
}

/** Half of a body under the length of the whole, and then nothing: the connection breaks. */
export function truncated(body: string): (response: ServerResponse) => void {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) });
    response.write(body.slice(0, body.length / 2), () => setTimeout(() => response.destroy(), 10));
  };
}
