import { z } from 'zod';
import { ServiceError } from './errors.js';

/** When: what had been observed by the end of a calendar date, or by a time; null is now. */
export type Moment = { date: string } | { time: Date } | null;

/** Which entries of a listing, in which order. */
export interface Selection {
  index_summary?: string | undefined;
  index_coverage_state?: string | undefined;
  canonicals_match?: 'true' | 'false' | 'none' | undefined;
  url_contains?: string | undefined;
  crawled_before?: string | undefined;
  crawled_after?: string | undefined;
  sort?: string | undefined;
}

/** What a request for a listing asks beyond the specification. */
export interface ListingQuery {
  moment: Moment;
  /** The state that an earlier window of the same walk showed. */
  version: string | null;
  /** Null: every entry, in the listing's own order. */
  selection: Selection | null;
  /** The same as it stood in the query, for the links to carry. */
  query: Readonly<Record<string, string>>;
}

export const WHOLE_LISTING: ListingQuery = { moment: null, version: null, selection: null, query: {} };

/** Fields that a listing can be sorted by; with `-` in front, the other way round. */
export const SORTED_BY = ['url', 'index_summary', 'index_coverage_state', 'last_crawl_time'] as const;
const SORT = new RegExp(`^-?(?:${SORTED_BY.join('|')})$`);
const MAX_TEXT_CHARACTERS = 2000;

const filterText = z.string().min(1).max(MAX_TEXT_CHARACTERS);
const time = z.union([z.iso.date(), z.iso.datetime({ offset: true })]);
const moment = time.refine((text) => !Number.isNaN(Date.parse(text)) && !text.startsWith('0000'));

/** The parameters beyond the specification, each at most once. */
export const momentParameters = z.object({ as_of: moment.optional() });
export const listingParameters = momentParameters.extend({
  snapshot: z.uuid().optional(),
  index_summary: filterText.optional(),
  index_coverage_state: filterText.optional(),
  canonicals_match: z.enum(['true', 'false', 'none']).optional(),
  url_contains: filterText.optional(),
  crawled_before: moment.optional(),
  crawled_after: moment.optional(),
  sort: z.string().regex(SORT).optional(),
});

const REMEDY: Record<string, string> = {
  as_of: 'as_of must be one date (2026-01-31) or one time with its offset (2026-01-31T12:00:00Z).',
  snapshot: 'snapshot must be one id, as the links of a listing carry it.',
  canonicals_match: 'canonicals_match must be true, false or none.',
  crawled_before: 'crawled_before must be one date (2026-01-31) or one time with its offset.',
  crawled_after: 'crawled_after must be one date (2026-01-31) or one time with its offset.',
  sort: `sort must be one of ${SORTED_BY.join(', ')}, with - in front for the other way round.`,
};

/** @throws ServiceError 400 */
export function readMoment(query: unknown): Moment {
  return momentOf(parsed(momentParameters, query).as_of);
}

/** @throws ServiceError 400 */
export function readListingQuery(query: unknown): ListingQuery {
  const known = parsed(listingParameters, query);
  const { as_of, snapshot, ...selection } = known;
  const isSelective = Object.values(selection).some((value) => value !== undefined);
  return {
    moment: momentOf(as_of),
    version: snapshot ?? null,
    selection: isSelective ? selection : null,
    query: Object.fromEntries(Object.entries(known).flatMap(([name, value]) => (value ? [[name, value]] : []))),
  };
}

function momentOf(asOf: string | undefined): Moment {
  if (asOf === undefined) return null;
  return asOf.includes('T') ? { time: new Date(asOf) } : { date: asOf };
}

function parsed<T>(schema: z.ZodType<T>, query: unknown): T {
  const result = schema.safeParse(query);
  if (result.success) return result.data;
  const name = String(result.error.issues[0]?.path[0] ?? '');
  throw new ServiceError(400, REMEDY[name] ?? `${name} must be one text of at most ${MAX_TEXT_CHARACTERS} characters.`);
}
