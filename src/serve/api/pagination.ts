import { z } from 'zod';
import type { Pagination } from '../../source/contract/coverage.js';

const DEFAULT_LIMIT_ENTRIES = 100;
/** `skip` travels as a 32-bit integer in the pagination object. */
const MAX_SKIP_ENTRIES = 2 ** 31 - 1;

export type WindowBounds = z.infer<ReturnType<typeof windowQuery>>;

const NOT_WHOLE = 'skip and limit must each be one whole number.';
const DIGITS = /^\d{1,16}$/;

/** The parameters of a window, parsed into its bounds. @param maxLimit a request for more gets this many */
export function windowQuery(maxLimit: number) {
  const skip = z.int(NOT_WHOLE).min(0).max(MAX_SKIP_ENTRIES, `skip must be at most ${MAX_SKIP_ENTRIES}.`);
  const limit = z.int(NOT_WHOLE).min(1, `limit must be between 1 and ${maxLimit}.`);
  return z.object({
    skip: wholeNumber(skip).default(0).describe('Entries before the window.'),
    limit: wholeNumber(limit)
      .default(Math.min(DEFAULT_LIMIT_ENTRIES, maxLimit))
      .transform((asked) => Math.min(asked, maxLimit))
      .describe(`Entries in the window, at most ${maxLimit}: a larger number gets that many.`),
  });
}

function wholeNumber(number: z.ZodInt) {
  return z.preprocess((text) => (typeof text === 'string' && DIGITS.test(text) ? Number(text) : text), number);
}

/**
 * The pagination object of a window (specification, 2.2). Its links are relative to the base address, so they have no
 * path prefix, wherever the service is mounted.
 *
 * @param path of the operation, with the id in it encoded
 * @param carried parameters beyond the specification that the links repeat
 */
export function paginationOf(
  path: string,
  { skip, limit }: WindowBounds,
  count: number,
  carried: Readonly<Record<string, string | undefined>> = {},
): Pagination {
  const rest = Object.entries(carried).map(([name, value]) => (value ? `&${name}=${encodeURIComponent(value)}` : ''));
  const link = (from: number): string => `${path}?skip=${from}&limit=${limit}${rest.join('')}`;
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
