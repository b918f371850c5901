import { paginationOf } from '../../src/serve/api/pagination.js';
import type { Pagination } from '../../src/source/contract/coverage.js';

/** How a fake listing departs from the specification. */
export interface Departures {
  /** Largest window that the service gives, whatever `limit` asks for. */
  cap?: number;
  /** Answers as if no `skip` were asked for, and says so where it says `skip` at all. */
  ignoresSkip?: boolean;
  /** Changes the pagination object of an answer. */
  pagination?: (honest: Pagination, request: { skip: number; limit: number }) => Pagination;
  /** Called before each answer: here the world moves. */
  before?: (pages: string[]) => void;
}

const DEFAULT_LIMIT = 100;

/**
 * A coverage listing in memory, paged by offset, whose pages may change between two requests.
 */
export class FakeListing {
  requests = 0;
  /** Pages that were monitored at every request so far. */
  readonly #always: Set<string>;

  constructor(
    readonly pages: string[],
    readonly departures: Departures = {},
  ) {
    this.#always = new Set(pages);
  }

  get always(): string[] {
    return [...this.#always];
  }

  /** The body for a path and query, as the walk asks for it. */
  get = async (path: string): Promise<string> => {
    this.requests++;
    const { before, cap = Number.POSITIVE_INFINITY, ignoresSkip, pagination } = this.departures;
    before?.(this.pages);
    const now = new Set(this.pages);
    for (const page of this.#always) if (!now.has(page)) this.#always.delete(page);
    const query = new URL(path, 'http://fake').searchParams;
    const limit = Math.min(cap, Number(query.get('limit') ?? DEFAULT_LIMIT));
    const skip = ignoresSkip ? 0 : Number(query.get('skip') ?? 0);
    const urls = this.pages.slice(skip, skip + limit).map(entryOf);
    const honest = paginationOf('/v1/urls/w', { skip, limit }, this.pages.length);
    return JSON.stringify({ urls, pagination: pagination ? pagination(honest, { skip, limit }) : honest });
  };
}

export function pageUrls(count: number, from = 0): string[] {
  return Array.from({ length: count }, (_, at) => `https://www.example.com/page-${from + at}`);
}

export function entryOf(url: string) {
  return { url, index_summary: null, service_link: 'https://app.example.com/r' };
}
