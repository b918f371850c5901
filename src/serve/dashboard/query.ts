import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Reader } from '../../answers/query/reader.js';
import type { Marker } from '../../warehouse/log/markers.js';
import { ServiceError } from '../api/errors.js';
import type { WebsiteContext } from './layout.js';

export const ROWS_A_PAGE = ['25', '50', '100', '200'] as const;

export const pagingQuery = {
  page: z
    .string()
    .regex(/^[1-9]\d{0,8}$/)
    .default('1')
    .transform(Number),
  /** Rows on each. */
  per: z.enum(ROWS_A_PAGE).default('50').transform(Number),
};
export type Paging = z.infer<z.ZodObject<typeof pagingQuery>>;

/**
 * Parses a query string. Empty fields of a form count as missing; unknown parameters are ignored.
 *
 * @throws ServiceError 400 that names the parameter
 */
export function readQuery<T>(schema: z.ZodType<T>, query: unknown): T {
  const given = z.record(z.string(), z.unknown()).parse(query);
  const parsed = schema.safeParse(Object.fromEntries(Object.entries(given).filter(([, value]) => value !== '')));
  if (parsed.success) return parsed.data;
  throw new ServiceError(400, `The address has no valid value for “${String(parsed.error.issues[0]?.path[0])}”.`);
}

/** @throws ServiceError 404 for a page after the last one */
export function checkPage({ page, per }: Paging, rows: number): void {
  const last = Math.max(1, Math.ceil(rows / per));
  if (page > last) throw new ServiceError(404, `There is no page ${page}: the last one is ${last}.`);
}

export function skipOf({ page, per }: Paging): number {
  return (page - 1) * per;
}

/** For each kind of page and each state of the warehouse, which has its own list of markers. */
const MOST_ANSWERS = 100;

/**
 * Caches what a kind of page shows, by website and parameters, because it stays the same until the next commit. A
 * cached answer waits for no other question.
 *
 * @param read reads the answer; `asked` is everything that it depends on besides the website
 */
export function remembered<T extends object, Asked>(
  read: (reader: Reader, website: string, asked: Asked) => Promise<T>,
): (context: WebsiteContext, asked: Asked) => Promise<T> {
  const states = new WeakMap<readonly Marker[], LRUCache<string, T>>();
  return async (context, asked) => {
    const { id } = context.website;
    const name = JSON.stringify([id, asked]);
    const known = states.get(await context.reader.markers())?.get(name);
    if (known !== undefined) return known;
    return context.ask(async (reader) => {
      const answer = await read(reader, id, asked);
      const answers = states.get(reader.markers) ?? new LRUCache({ max: MOST_ANSWERS });
      states.set(reader.markers, answers.set(name, answer));
      return answer;
    });
  };
}
