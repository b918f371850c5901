import { z } from 'zod';

/** A point in time: the end of a calendar date, or a time; null is now. */
export type Moment = { date: string } | { time: Date } | null;

/** What a request for a listing contains beyond the specification. */
export interface ListingQuery {
  moment: Moment;
  /** The state that an earlier window of the same walk showed. */
  version: string | null;
  /** Null: every entry, in the listing's own order. */
  selection: Selection | null;
  /** The same as it was in the query, for the links to repeat. */
  query: Readonly<Record<string, string>>;
}

/** Fields that a listing can be sorted by; with `-` in front, in descending order. */
const SORT_FIELDS = ['url', 'index_summary', 'index_coverage_state', 'last_crawl_time'] as const;
const MAX_TEXT_CHARACTERS = 2000;
const ORDERS = SORT_FIELDS.flatMap((field) => [field, `-${field}`] as const);

/** The parameters beyond the specification, each at most once. Error messages say what would be valid. */
export const momentParameters = z.object({
  as_of: moment(
    'as_of must be one date (2026-01-31) or one time with its offset (2026-01-31T12:00:00Z).',
    'What was known then: a date (everything observed by its end, in the time zone of the warehouse, and the listing that began on it) or a time with its offset. Ages count up to then.',
  ),
});
type MomentParameters = z.infer<typeof momentParameters>;

export const listingParameters = momentParameters.extend({
  snapshot: optional(
    z.uuid('snapshot must be one id, as in the links of a listing.'),
    'The state that an earlier window showed. The links of a listing carry it, so that a walk sees one state, whatever is committed meanwhile.',
  ),
  index_summary: filterText('index_summary', 'Only entries with this summary, e.g. `Indexed`.'),
  index_coverage_state: filterText('index_coverage_state', 'Only entries in this coverage state.'),
  canonicals_match: optional(
    z.enum(['true', 'false', 'none'], 'canonicals_match must be true, false or none.'),
    'Only entries whose canonicals match, do not match, or are unknown (`none`).',
  ),
  url_contains: filterText('url_contains', 'Only pages whose URL contains this text.', 1),
  crawled_before: moment(
    'crawled_before must be one date (2026-01-31) or one time with its offset.',
    'Only pages that were last crawled before this date or time.',
  ),
  crawled_after: moment(
    'crawled_after must be one date (2026-01-31) or one time with its offset.',
    'Only pages that were last crawled at or after this date or time.',
  ),
  sort: optional(
    z.enum(ORDERS, `sort must be one of ${SORT_FIELDS.join(', ')}, with - in front for descending order.`),
    'The order: a field, with `-` in front for descending order. Entries without a value come last.',
  ),
});
export type ListingParameters = z.infer<typeof listingParameters>;
/** Which entries of a listing, in which order. */
export type Selection = Omit<ListingParameters, 'as_of' | 'snapshot'>;

/** The point in time that a request asks for. */
export function momentOf({ as_of: asOf }: MomentParameters): Moment {
  if (asOf === undefined) return null;
  return asOf.includes('T') ? { time: new Date(asOf) } : { date: asOf };
}

/** What a query for a listing asks for besides its window. */
export function listingQueryOf(known: ListingParameters): ListingQuery {
  const { as_of: _asOf, snapshot, sort, ...filter } = known;
  // A listing is ordered by URL anyway.
  const selection = sort === 'url' ? filter : { ...filter, sort };
  const isSelective = Object.values(selection).some((value) => value !== undefined);
  return {
    moment: momentOf(known),
    version: snapshot ?? null,
    selection: isSelective ? selection : null,
    query: Object.fromEntries(
      Object.entries(known).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    ),
  };
}

function moment(remedy: string, meaning: string) {
  const forms = [z.iso.date(), z.iso.datetime({ offset: true })];
  const isTime = (text: string): boolean => !Number.isNaN(Date.parse(text)) && !text.startsWith('0000');
  return optional(z.union(forms, remedy).refine(isTime, remedy), meaning);
}

/** @param least number of characters; 0 where an empty text is a value like any other */
function filterText(name: string, meaning: string, least = 0) {
  const remedy = `${name} must be one text of at most ${MAX_TEXT_CHARACTERS} characters.`;
  return optional(z.string(remedy).min(least, remedy).max(MAX_TEXT_CHARACTERS, remedy), meaning);
}

function optional<T extends z.ZodType>(schema: T, meaning: string) {
  return schema.optional().describe(meaning);
}
