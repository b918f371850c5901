import { messageOf } from '../../base/exit.js';
import { type Issue, issuesOf, type Verdict, validate } from '../../base/validate.js';
import {
  type CoverageEntry,
  coverageEntrySchema,
  coverageWindowSchema,
  type Pagination,
  paginationSchema,
} from '../contract/coverage.js';
import { absoluteUrl } from '../contract/fields.js';
import { API_PLACES, SourceError } from '../errors.js';

/** Limit for a field's name in the drift diary: the service chooses it, so it could be as long as a body. */
const MAX_FIELD_CHARACTERS = 200;

/** One entry as it arrived, validated on its own. */
export interface JudgedEntry {
  /** The page's URL if one can be read, even from a rejected entry; else null. */
  url: string | null;
  verdict: Verdict<CoverageEntry>;
  payload: unknown;
}

/** Something in an answer that the contract does not foresee but that rejects no record. */
export interface Drift {
  kind: 'unknown_field' | 'absent_field' | 'pagination';
  field: string;
  value: string | null;
}

export interface Window {
  entries: JudgedEntry[];
  pagination: Pagination;
  drift: Drift[];
}

/** A listing body that breaks the contract as a whole, with its text and what is wrong with it. */
export class BadWindow extends SourceError {
  constructor(
    message: string,
    readonly issues: Issue[],
    readonly text: string,
  ) {
    super('bad_body', message, { status: 200 });
  }
}

/**
 * Reads the body of one listing answer.
 *
 * @param place the configuration key of the service's address
 * @throws BadWindow if it is not JSON or not a window of a listing
 */
export function readWindow(text: string, place: string = API_PLACES.baseUrl): Window {
  const parsed = coverageWindowSchema.safeParse(json(text, place));
  if (!parsed.success) throw badWindow('breaks the contract', issuesOf(parsed.error), text, place);
  const { urls, pagination } = parsed.data;
  return {
    entries: urls.map(judgeEntry),
    pagination,
    drift: [
      ...fieldDrift('pagination', pagination, paginationSchema.shape),
      ...fieldDrift('body', parsed.data, coverageWindowSchema.shape),
    ],
  };
}

function json(text: string, place: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const issue = { path: '', code: 'invalid_json', message: whyNotJson(error) };
    throw badWindow(looksLikeHtml(text) ? 'is an HTML page, not JSON' : 'is not JSON', [issue], text, place);
  }
}

function badWindow(what: string, issues: Issue[], text: string, place: string): BadWindow {
  const where = issues[0] ? ` (${[issues[0].path, issues[0].message].filter(Boolean).join(': ')})` : '';
  return new BadWindow(`the listing's body ${what}${where}; check ${place}, and whether the API changed`, issues, text);
}

/** The parser's message, without the piece of the text that it quotes. */
export function whyNotJson(error: unknown): string {
  const message = messageOf(error);
  return message.replace(/,? *(?:\.{3})?".*"(?:\.{3})? is not valid JSON$/s, ' is not valid JSON').trim();
}

export function looksLikeHtml(text: string): boolean {
  return /^\s*<(!doctype|html)/i.test(text);
}

/** Checks one entry of a listing against the contract. */
function judgeEntry(payload: unknown): JudgedEntry {
  return { url: usableUrl(payload), verdict: validate(coverageEntrySchema, payload), payload };
}

function usableUrl(payload: unknown): string | null {
  if (typeof payload !== 'object' || payload === null || !('url' in payload)) return null;
  const url = absoluteUrl.safeParse(payload.url);
  return url.success && url.data.isWellFormed() ? url.data : null;
}

/** The fields that an object lacks, or has beyond its contract. */
function fieldDrift(name: string, object: object, shape: object): Drift[] {
  const absent = Object.keys(shape).filter((field) => !Object.hasOwn(object, field));
  const unknown = Object.keys(object).filter((field) => !Object.hasOwn(shape, field));
  const of = (kind: Drift['kind']) => (field: string) => {
    return { kind, field: `${name}.${field}`.slice(0, MAX_FIELD_CHARACTERS), value: null };
  };
  return [...absent.map(of('absent_field')), ...unknown.map(of('unknown_field'))];
}
