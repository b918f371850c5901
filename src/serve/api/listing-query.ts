import { z } from 'zod';

/** A point in time: the end of a calendar date, or a time; null is now. */
export type Moment = { date: string } | { time: Date } | null;

/** What a request for a listing contains beyond the specification. */
export interface ListingQuery {
  moment: Moment;
  /** The state that an earlier window of the same walk showed. */
  version: string | null;
  /** The same as it was in the query, for the links to repeat. */
  query: Readonly<Record<string, string>>;
}

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
});
export type ListingParameters = z.infer<typeof listingParameters>;
/** The point in time that a request asks for. */
export function momentOf({ as_of: asOf }: MomentParameters): Moment {
  if (asOf === undefined) return null;
  return asOf.includes('T') ? { time: new Date(asOf) } : { date: asOf };
}

/** What a query for a listing asks for besides its window. */
export function listingQueryOf(known: ListingParameters): ListingQuery {
  return {
    moment: momentOf(known),
    version: known.snapshot ?? null,
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

function optional<T extends z.ZodType>(schema: T, meaning: string) {
  return schema.optional().describe(meaning);
}
