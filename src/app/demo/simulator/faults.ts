import { z } from 'zod';
import { ServiceError } from '../../../serve/api/errors.js';
import { hash, unit } from './random.js';

/** What can go wrong with an answer, in the order in which a draw is compared with the rates. */
const FAULT_KINDS = [
  /** 429 with `Retry-After`, whatever the key's allowance. */
  '429',
  '500',
  '503',
  /** The connection is reset without an answer. */
  'reset',
  /** 302 to a path outside the base address. */
  'redirect',
  /** 200 with an HTML page. */
  'html',
  /** 200 with JSON that does not parse. */
  'invalid_json',
  /** The correct answer, in slow pieces. */
  'slow',
  /** The first half of the correct answer; then the connection breaks. */
  'truncated',
  /** The first half of the correct answer, as if that were all. */
  'cut',
  /** The correct answer with one value of a type that the contract does not allow. */
  'violation',
  /** A report that names another page; reports only. */
  'wrong_url',
  /** Access refused: a token that ended early, or a permission that was withdrawn. */
  '401',
  '403',
  /** Refused for the load of search analytics: 403 and 429 in turn, with each of Google's reasons. */
  'load',
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** Operations of Search Console; `web` stands for the files of the website itself. */
export const GOOGLE_OPERATIONS = ['token', 'sites', 'sitemaps', 'query', 'inspect', 'web'] as const;

/** The operation that a request is for; `other` for paths that do not exist. */
export type OperationName = 'key' | 'listing' | 'report' | 'other' | (typeof GOOGLE_OPERATIONS)[number];

/** Google's refusal of a query because of its load. */
export class LoadRefused extends ServiceError {
  readonly reason: string;

  /** @param number of the refusal: they take turns */
  constructor(number: number) {
    super(number % 2 === 0 ? 403 : 429, 'Search Analytics load quota exceeded.');
    this.reason = number % 4 < 2 ? 'quotaExceeded' : 'rateLimitExceeded';
  }
}

const rate = z.number().min(0).max(1);

/** Share of the requests that meet each kind, 0 to 1, together at most 1; e.g. `{reset: 0.01}`. */
const faultRatesSchema = z
  .partialRecord(z.enum(FAULT_KINDS), rate)
  .refine(
    (rates) => Object.values(rates).reduce((sum, one) => sum + one, 0) <= 1 + Number.EPSILON,
    'the rates add up to more than 1',
  );
export type FaultRates = z.infer<typeof faultRatesSchema>;

/**
 * Draws the fault of a request from the seed, the request's number and its operation alone, so that the same sequence
 * of requests always meets the same faults.
 */
export class Faults {
  #rates: FaultRates = {};
  #only: readonly OperationName[] | null = null;

  constructor(
    private readonly seed: number,
    rates: FaultRates = {},
  ) {
    this.set(rates);
  }

  get rates(): FaultRates {
    return { ...this.#rates };
  }

  /** Replaces all rates. Throws a `ZodError` for an unknown kind, a rate outside 0 to 1, or a sum above 1. */
  set(rates: FaultRates, only: readonly OperationName[] | null = null): void {
    this.#rates = faultRatesSchema.parse(rates);
    this.#only = only;
  }

  kindFor(requestNumber: number, operation: OperationName): FaultKind | null {
    if (this.#only && !this.#only.includes(operation)) return null;
    const u = unit(this.seed, requestNumber);
    let below = 0;
    const kind = FAULT_KINDS.find((one) => {
      below += this.#rates[one] ?? 0;
      return u < below;
    });
    return kind === undefined || (kind === 'wrong_url' && operation !== 'report') ? null : kind;
  }
}

const anyBody = z.record(z.string(), z.unknown());
const bodyWithUrls = z.object({ urls: z.array(anyBody).min(1) });

/**
 * A correct body with one wrong value: in one entry of a listing, in a report, or, where there is no entry, in the
 * pagination or the key's `websites_access`. Of Search Console: a list, which none of its answers is.
 */
export function violate(body: string, operation: OperationName, draw: number): string {
  if (GOOGLE_OPERATIONS.some((name) => name === operation)) return '[]';
  const whole = anyBody.parse(JSON.parse(body));
  if (operation === 'report') return JSON.stringify(spoilt(whole, draw));
  const listing = bodyWithUrls.safeParse(whole);
  if (!listing.success) return JSON.stringify({ ...whole, pagination: 'none', websites_access: 'all' });
  const { urls } = listing.data;
  const at = hash(draw, 1) % urls.length;
  return JSON.stringify({ ...whole, urls: urls.with(at, spoilt(urls[at] ?? {}, draw)) });
}

/** With a mapping as the value of one field, which the contract allows for none. */
function spoilt(record: Readonly<Record<string, unknown>>, draw: number): Record<string, unknown> {
  const fields = Object.keys(record);
  return { ...record, [fields[hash(draw, 2) % fields.length] ?? '']: {} };
}

/** A report whose `url` is not the requested one. */
export function nameAnotherUrl(body: string): string {
  const report = anyBody.parse(JSON.parse(body));
  return JSON.stringify({ ...report, url: String(report['url']).replace(/$|[?#]/, '-other$&') });
}
