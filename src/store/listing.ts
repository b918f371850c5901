import { z } from 'zod';
import { askRows } from '../analysis/ask-rows.js';
import type { Reader } from '../analysis/reader.js';
import type { CoverageEntry } from '../contract/coverage.js';
import type { Selection } from '../service/listing-query.js';
import type { WindowBounds } from '../service/pagination.js';
import type { Parameters } from '../storage/engine.js';
import { sql } from '../storage/sql.js';
import { filesOf } from '../warehouse/markers.js';
import type { DataTable } from '../warehouse/tables.js';
import type { ServedCommits } from './commits.js';

/** A window begins behind a page whose place is known, at most so many entries before it. */
const PAGES_PER_MARK = 1000;
/** Listings of which is remembered where they are found: a website's newest one, mostly. */
const MAX_REMEMBERED = 200;
/** Bytes order URLs, and nothing that is a URL comes behind this. */
const BEHIND_ALL = '\u{10ffff}';
const WHOLE = { from_url: '', to_url: BEHIND_ALL };

/** The files that a listing is read from; a bare object of lists, as statements take it. */
export type ListingFiles = { coverage: string[]; rejected: string[]; earlier: string[] };

/** Where the entries of a listing are found. */
interface ListingIndex {
  files: ListingFiles;
  count: number;
  /** The URL of every 1,000th page, from the first on. */
  marks: string[];
}

const urlRow = z.object({ url: z.string() });
const countRow = z.object({ count: z.int() });
const maybeText = z.string().nullable();
const entryRow = z.object({
  url: z.string(),
  index_summary: maybeText,
  index_coverage_state: maybeText,
  canonicals_match_present: z.boolean().nullable(),
  canonicals_match: z.boolean().nullable(),
  searchengine_selected_canonical: maybeText,
  user_selected_canonical: maybeText,
  last_crawl_time: maybeText,
  /** BIGINT comes as text. */
  crawled_at: z.coerce.number().nullable(),
  inspection_link: maybeText,
  service_link: maybeText,
});

/**
 * The listings of a warehouse, read from their Parquet files each time. The files are sorted by URL, so that a window
 * needs the one or two row groups that hold it, wherever it lies.
 */
export class Listings {
  readonly #files = new Recent<ListingFiles>(MAX_REMEMBERED);
  readonly #indexes = new Recent<ListingIndex>(MAX_REMEMBERED);

  constructor(private readonly warehouse: string) {}

  /** Whether a window of it needs no more than to be read: neither pages to be chosen nor places to be found first. */
  isQuick(commits: ServedCommits, selection: Selection | null): boolean {
    return selection === null && this.#indexes.has(keyOf(commits));
  }

  /** Entries by their place in the listing's own order. @param now what `days_since_last_crawl` counts to */
  async window(
    reader: Reader,
    commits: ServedCommits,
    { skip, limit }: WindowBounds,
    now: number,
  ): Promise<{ entries: CoverageEntry[]; count: number }> {
    const { files, count, marks } = await this.#index(reader, commits);
    if (skip >= count) return { entries: [], count };
    const first = Math.floor(skip / PAGES_PER_MARK);
    const range = {
      from_url: marks[first] ?? '',
      to_url: marks[Math.ceil((skip + limit) / PAGES_PER_MARK)] ?? BEHIND_ALL,
    };
    const shown = { ...range, limit, skip: skip - first * PAGES_PER_MARK };
    return { entries: await entriesOf(reader, files, { shown: 'serve/window', ...shown }, now), count };
  }

  /** Entries that a request selects. First which pages these are, then no more than what is shown of them. */
  async selected(
    reader: Reader,
    commits: ServedCommits,
    { selection, window, now }: { selection: Selection; window: WindowBounds; now: number },
  ): Promise<{ entries: CoverageEntry[]; count: number }> {
    const files = await this.files(reader, commits);
    const given = { ...WHOLE, ...valuesOf(selection) };
    const read = [...listed(files), `selected as (${sql('serve/selected')}\n)`];
    const [counted] = await ask(reader, countRow, files, { read, answer: 'serve/selected_counted', given });
    const shown = { ...given, ...window };
    const rows = await ask(reader, urlRow, files, { read, answer: 'serve/selected_urls', given: shown });
    const urls = rows.map(({ url }) => url);
    const entries = new Map((await this.of(reader, files, urls, now)).map((entry) => [entry.url, entry]));
    return { entries: urls.flatMap((url) => entries.get(url) ?? []), count: counted?.count ?? 0 };
  }

  /** The entries of those of some pages that are listed. */
  async of(reader: Reader, files: ListingFiles, urls: readonly string[], now: number): Promise<CoverageEntry[]> {
    if (urls.length === 0) return [];
    return entriesOf(reader, files, { shown: 'serve/named', ...rangeOf(urls), urls: [...urls] }, now);
  }

  /**
   * The files that a listing is read from. Of the commits before it only those that hold a page which is in quarantine
   * now: mostly none.
   */
  async files(reader: Reader, commits: ServedCommits): Promise<ListingFiles> {
    const key = keyOf(commits);
    const known = this.#files.get(key);
    if (known) return known;
    const { listing, earlier } = commits;
    const of = (table: DataTable, markers = listing) => filesOf(this.warehouse, markers, table);
    const files: ListingFiles = { coverage: of('coverage'), rejected: of('rejected_records'), earlier: [] };
    if (files.rejected.length > 0) files.earlier = await standIns(reader, files, of('coverage', earlier), listing);
    this.#files.set(key, files);
    return files;
  }

  async #index(reader: Reader, commits: ServedCommits): Promise<ListingIndex> {
    const key = keyOf(commits);
    const known = this.#indexes.get(key);
    if (known) return known;
    const files = await this.files(reader, commits);
    const read = listed(files);
    const [counted] = await ask(reader, countRow, files, { read, answer: 'serve/counted', given: WHOLE });
    const step = { ...WHOLE, step: PAGES_PER_MARK };
    const marks = await ask(reader, urlRow, files, { read, answer: 'serve/url_marks', given: step });
    const index = { files, count: counted?.count ?? 0, marks: marks.map(({ url }) => url) };
    this.#indexes.set(key, index);
    return index;
  }
}

/** The least range of URLs that holds some of them. */
export function rangeOf(urls: readonly string[]): { from_url: string; to_url: string } {
  const sorted = [...urls].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return { from_url: sorted[0] ?? '', to_url: `${sorted.at(-1) ?? ''}\u0001` };
}

/** The same for the same listing, whatever was committed since. */
function keyOf({ listing, earlier }: ServedCommits): string {
  return [...listing, ...earlier.slice(-1)].map(({ commitId }) => commitId).join(' ');
}

/** Of the files of earlier commits, newest first, those that list a page which is only in quarantine now. */
async function standIns(
  reader: Reader,
  { coverage, rejected }: ListingFiles,
  earlier: readonly string[],
  listing: ServedCommits['listing'],
): Promise<string[]> {
  const { engine } = reader;
  const asked = {
    coverage: reader.filled('coverage', coverage),
    rejected: reader.filled('rejected_records', rejected),
    website: listing[0]?.websiteId ?? '',
  };
  const rows = await askRows(reader, 'serve/stand_ins', urlRow, asked);
  const missing = new Set(rows.map(({ url }) => url));
  const found: string[] = [];
  for (const file of [...earlier].reverse()) {
    if (missing.size === 0) break;
    const held = await engine.rows(urlRow, sql('serve/held_urls'), { coverage: [file], urls: [...missing] });
    if (held.length > 0) found.push(file);
    for (const { url } of held) missing.delete(url);
  }
  return found;
}

/** What a request selects by, as `selected.sql` takes it. */
function valuesOf(selection: Selection): Parameters {
  const { crawled_before: before, crawled_after: after } = selection;
  return {
    index_summary: selection.index_summary ?? null,
    index_coverage_state: selection.index_coverage_state ?? null,
    canonicals_match: selection.canonicals_match ?? null,
    url_contains: selection.url_contains ?? null,
    crawled_before: before === undefined ? null : Date.parse(before),
    crawled_after: after === undefined ? null : Date.parse(after),
    sort: selection.sort ?? null,
  };
}

async function entriesOf(
  reader: Reader,
  files: ListingFiles,
  { shown, ...given }: { shown: 'serve/window' | 'serve/named' } & Parameters,
  now: number,
): Promise<CoverageEntry[]> {
  const read = [...listed(files, given['urls'] ? 'serve/rows_of_urls' : undefined), `shown as (${sql(shown)}\n)`];
  const rows = await ask(reader, entryRow, files, { read, answer: 'serve/entries', given });
  return rows.map((row) => entryOf(row, now));
}

/** The entry as the interface writes it: `canonicals_match` is left out where it was left out upstream. */
function entryOf(row: z.infer<typeof entryRow>, now: number): CoverageEntry {
  const { canonicals_match, crawled_at } = row;
  return {
    url: row.url,
    index_summary: row.index_summary,
    index_coverage_state: row.index_coverage_state,
    ...(row.canonicals_match_present ? { canonicals_match } : {}),
    searchengine_selected_canonical: row.searchengine_selected_canonical,
    user_selected_canonical: row.user_selected_canonical,
    last_crawl_time: row.last_crawl_time,
    days_since_last_crawl: crawled_at === null ? null : daysSince(crawled_at, now),
    inspection_link: row.inspection_link,
    service_link: row.service_link,
  };
}

/**
 * The relations `coverage_rows` and `listed`. Where one commit makes the listing and nothing of it is in quarantine, as on
 * most nights, it holds each page once, as it is.
 */
function listed(files: ListingFiles, rows = 'serve/rows_in_range'): string[] {
  const all = isOneFile(files) ? 'select * from coverage_rows' : sql('serve/listed');
  return [`coverage_rows as (${sql(rows)}\n)`, `listed as (${all}\n)`];
}

function isOneFile({ coverage, rejected }: ListingFiles): boolean {
  return coverage.length === 1 && rejected.length === 0;
}

async function ask<T>(
  reader: Reader,
  schema: z.ZodType<T>,
  files: ListingFiles,
  { read, answer, given }: { read: string[]; answer: string; given: Parameters },
): Promise<T[]> {
  const { coverage, rejected, earlier } = files;
  const named = {
    coverage: reader.filled('coverage', coverage),
    ...(isOneFile(files)
      ? {}
      : { rejected: reader.filled('rejected_records', rejected), earlier: reader.filled('coverage', earlier) }),
  };
  return reader.engine.rows(schema, `with ${read.join(', ')}\n${sql(answer)}`, { ...named, ...given });
}

const DAY_MS = 86_400_000;

/** Whole days, never negative: a crawl by a clock that is ahead of ours was today. Both in milliseconds since 1970. */
export function daysSince(crawledAt: number, now: number): number {
  return Math.max(0, Math.floor((now - crawledAt) / DAY_MS));
}

/** What was asked for last, up to so many. */
class Recent<T> {
  readonly #kept = new Map<string, T>();

  constructor(private readonly most: number) {}

  has(key: string): boolean {
    return this.#kept.has(key);
  }

  get(key: string): T | undefined {
    const value = this.#kept.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  set(key: string, value: T): void {
    // Deleted first, so that the map's order of insertion is the order of use.
    this.#kept.delete(key);
    this.#kept.set(key, value);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.most) return;
      this.#kept.delete(oldest);
    }
  }
}
