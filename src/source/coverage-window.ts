import type { z } from 'zod';
import {
  type CoverageEntry,
  coverageEntrySchema,
  coverageWindowSchema,
  type Pagination,
  paginationSchema,
} from '../contract/coverage.js';
import { absoluteUrl } from '../contract/fields.js';
import { type Issue, issuesOf, type Verdict, validate } from '../contract/validate.js';
import { SourceError } from './errors.js';

/** Of a field's name in the drift diary: it is the service's own word, and may be as long as a body. */
const MAX_FIELD_CHARACTERS = 200;

/** One entry as it arrived, judged on its own. */
export interface JudgedEntry {
  /** The page's URL wherever one can be read, also in a rejected entry; else null. */
  url: string | null;
  verdict: Verdict<CoverageEntry>;
  payload: unknown;
}

/** Something in an answer that the contract does not foresee, though it costs no record. */
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
 * @throws BadWindow if it is not JSON or not a window of a listing
 */
export function readWindow(text: string): Window {
  const parsed = coverageWindowSchema.safeParse(json(text));
  if (!parsed.success) throw badWindow('breaks the contract', issuesOf(parsed.error), text);
  const { urls, pagination } = parsed.data;
  return {
    entries: urls.map(judgeEntry),
    pagination,
    drift: [...paginationDrift(pagination), ...bodyDrift(parsed.data)],
  };
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const issue = { path: '', code: 'invalid_json', message: whyNotJson(error) };
    throw badWindow(looksLikeHtml(text) ? 'is an HTML page, not JSON' : 'is not JSON', [issue], text);
  }
}

function badWindow(what: string, issues: Issue[], text: string): BadWindow {
  const where = issues[0] ? ` (${[issues[0].path, issues[0].message].filter(Boolean).join(': ')})` : '';
  return new BadWindow(
    `the listing's body ${what}${where}; check api.base_url, and whether the interface changed`,
    issues,
    text,
  );
}

/** What a parser says of a text, without the piece of the text that it repeats. */
export function whyNotJson(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/,? *(?:\.{3})?".*"(?:\.{3})? is not valid JSON$/s, ' is not valid JSON').trim();
}

export function looksLikeHtml(text: string): boolean {
  return /^\s*<(!doctype|html)/i.test(text);
}

/** Holds one entry of a listing against the contract. */
export function judgeEntry(payload: unknown): JudgedEntry {
  return { url: usableUrl(payload), verdict: validate(coverageEntrySchema, payload), payload };
}

function usableUrl(payload: unknown): string | null {
  if (typeof payload !== 'object' || payload === null || !('url' in payload)) return null;
  const url = absoluteUrl.safeParse(payload.url);
  return url.success && url.data.isWellFormed() ? url.data : null;
}

function paginationDrift(pagination: Pagination): Drift[] {
  const judged: Verdict<z.infer<typeof paginationSchema>> = validate(paginationSchema, pagination);
  if (!judged.accepted) return [];
  const unknown = Object.keys(judged.extra ?? {});
  return [
    ...judged.absent.map((field): Drift => ({ kind: 'absent_field', field: `pagination.${field}`, value: null })),
    ...unknown.map((field) => unknownField(`pagination.${field}`)),
  ];
}

function bodyDrift(body: object): Drift[] {
  const unknown = Object.keys(body).filter((field) => !Object.hasOwn(coverageWindowSchema.shape, field));
  return unknown.map((field) => unknownField(`body.${field}`));
}

function unknownField(field: string): Drift {
  return { kind: 'unknown_field', field: field.slice(0, MAX_FIELD_CHARACTERS), value: null };
}
