import { z } from 'zod';
import type { Pagination } from '../contract/coverage.js';
import { ServiceError } from './errors.js';

export const DEFAULT_LIMIT_ENTRIES = 100;
export const DEFAULT_MAX_LIMIT_ENTRIES = 1000;
/** `skip` travels as a 32-bit integer in the pagination object. */
const MAX_SKIP_ENTRIES = 2 ** 31 - 1;

export interface LimitRules {
  /** Window size when the request names none. */
  defaultLimit: number;
  maxLimit: number;
  /** What a larger `limit` gets: the largest allowed window, or a 400. */
  aboveMaxLimit: 'clamp' | 'refuse';
}

export interface Window {
  skip: number;
  limit: number;
}

const wholeNumber = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number);
const windowQuery = z.object({ skip: wholeNumber.optional(), limit: wholeNumber.optional() });

/** Reads `skip` and `limit` from a parsed query string; throws a 400 for what is not a usable whole number. */
export function readWindow(query: unknown, rules: LimitRules): Window {
  const parsed = windowQuery.safeParse(query);
  if (!parsed.success) throw new ServiceError(400, 'skip and limit must each be one whole number.');
  const { skip = 0, limit = rules.defaultLimit } = parsed.data;
  if (skip > MAX_SKIP_ENTRIES) throw new ServiceError(400, `skip must be at most ${MAX_SKIP_ENTRIES}.`);
  if (limit < 1 || (limit > rules.maxLimit && rules.aboveMaxLimit === 'refuse')) {
    throw new ServiceError(400, `limit must be between 1 and ${rules.maxLimit}.`);
  }
  return { skip, limit: Math.min(limit, rules.maxLimit) };
}

/**
 * The pagination object of a window (specification, 2.2). Its links are relative to the base address, so they hold no
 * path prefix whatever the service is mounted under.
 *
 * @param carried parameters beyond the specification that the links carry on
 */
export function paginationOf(
  websiteId: string,
  { skip, limit }: Window,
  count: number,
  carried: Readonly<Record<string, string>> = {},
): Pagination {
  const rest = Object.entries(carried).map(([name, value]) => `&${name}=${encodeURIComponent(value)}`);
  const link = (from: number): string =>
    `/v1/urls/${encodeURIComponent(websiteId)}?skip=${from}&limit=${limit}${rest.join('')}`;
  const end = skip + limit >= count;
  return {
    next_page: end ? null : link(skip + limit),
    prev_page: skip === 0 ? null : link(Math.max(0, skip - limit)),
    end,
    count,
    skip,
    limit,
    current_page: Math.floor(skip / limit) + 1,
    total_page: Math.max(1, Math.ceil(count / limit)),
  };
}
