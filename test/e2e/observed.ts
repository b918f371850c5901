import {
  type FaultKind,
  type FaultRates,
  Faults,
  type OperationName,
  violate,
} from '../../src/app/demo/simulator/faults.js';
import type { Simulator } from '../../src/app/demo/simulator/simulator.js';
import { type CoverageEntry, coverageEntrySchema } from '../../src/source/contract/coverage.js';
import { pagesOf } from '../given/pages-of.js';
import type { Row } from '../given/parquet.js';
import { seededRandom } from '../given/random.js';
import type { ObservedNight } from './recompute.js';

const OPERATIONS: OperationName[] = ['listing', 'report'];
const REJECTED: ReadonlySet<FaultKind> = new Set(['html', 'invalid_json', 'violation', 'wrong_url']);
export const ODD_STATE = 'A state that nobody knew';

/** What the warehouse took of a night's listing. */
export interface Taken {
  listed: Map<string, Row>;
  /** URLs of its refused entries. */
  refused: Set<string>;
}

export interface Observed {
  night: ObservedNight;
  /** The entries that count, as they were sent. */
  entries: CoverageEntry[];
  /** How many pages were listed twice, at least and at most. */
  doubled: { least: number; most: number };
}

/** A simulated website whose every night the test decides, and what of it was answered. */
export class ObservedWorld {
  /** Tonight's listing: pages may stand in it twice, with other values. */
  #entries: CoverageEntry[] = [];
  #reports = new Map<string, Row>();
  /** Windows from this entry on cannot be had. */
  #brokenFrom = Number.POSITIVE_INFINITY;
  /** Places in the listing that were answered, and those of them that were spoilt at least once. */
  #answered = new Set<number>();
  #spoilt = new Set<number>();
  #asked = new Map<string, FaultKind | null>();
  #requests = 0;
  readonly #faults: Faults;
  readonly #random: () => number;
  /** The world without what is made of it here. */
  readonly #whole: Parameters<typeof pagesOf>[0];

  constructor(
    private readonly simulator: Simulator,
    seed: number,
    rates: FaultRates,
    private readonly pageSize: number,
  ) {
    this.#random = seededRandom(seed);
    const { world } = simulator;
    this.#whole = { listing: world.listing.bind(world), report: world.report.bind(world) };
    this.#faults = new Faults(simulator.world.seed, rates);
    simulator.setFaults(rates, OPERATIONS);
    this.#faults.set(rates, OPERATIONS);
    simulator.world.listing = (_, skip, limit) => {
      if (skip + limit > this.#brokenFrom) throw new Error('a part of the listing that cannot be had');
      return { entries: this.#entries.slice(skip, skip + limit), count: this.#entries.length };
    };
    const add = simulator.requests.add.bind(simulator.requests);
    simulator.requests.add = (what, request) => {
      add(what, request);
      if (what === 'attempted') this.#observe(new URL(request, 'http://simulated'));
    };
  }

  /** A night begins: pages come, go, hide from the listing, or stand in it twice. */
  dawn(): void {
    const { world } = this.simulator;
    const some = (most: number) => Math.floor(this.#random() * (most + 1));
    const place = (length: number) => Math.floor(this.#random() * length);
    world.advance();
    world.website('w').add(some(2), world.night, place(20));
    world.website('w').remove(place(30), some(2), world.night);
    const pages = pagesOf(this.#whole, 'w');
    this.#reports = new Map(pages.map(({ report }) => [report.url, { ...report }]));
    this.#entries = pages.map(({ coverage }) => coverage).filter(() => this.#random() > 0.04);
    for (let doubles = some(4); doubles > 0; doubles--) this.#double(place(this.#entries.length));
    this.#entries = this.#entries.map((entry) => (this.#random() > 0.05 ? entry : oddEntry(entry, this.#random())));
    this.#brokenFrom = this.#random() < 0.15 ? 12 + place(30) : Number.POSITIVE_INFINITY;
    this.#answered = new Set();
    this.#spoilt = new Set();
    this.#asked = new Map();
  }

  #double(at: number): void {
    const entry = this.#entries[at];
    if (!entry) return;
    const indexed = entry.index_summary === 'Indexed';
    const other = {
      ...entry,
      index_summary: indexed ? 'Not Indexed' : 'Indexed',
      index_coverage_state: ODD_STATE,
      last_crawl_time: new Date(this.simulator.world.now.getTime() + at).toISOString(),
    };
    this.#entries.splice(Math.floor(this.#random() * (this.#entries.length + 1)), 0, other);
  }

  #observe({ pathname, searchParams }: URL): void {
    const operation = pathname.endsWith('/url-report') ? 'report' : 'listing';
    const number = this.#requests++;
    const kind = this.#faults.kindFor(number, operation);
    const page = searchParams.get('url');
    if (page !== null) this.#asked.set(page, kind);
    else if (pathname.includes('/urls/')) this.#observeWindow(Number(searchParams.get('skip')), kind, number);
  }

  #observeWindow(skip: number, kind: FaultKind | null, number: number): void {
    const urls = this.#entries.slice(skip, skip + this.pageSize);
    if (skip + this.pageSize > this.#brokenFrom) return;
    if (kind === null || kind === 'slow' || kind === 'violation')
      for (const at of urls.keys()) this.#answered.add(skip + at);
    if (kind !== 'violation' || urls.length === 0) return;
    const { urls: sent } = JSON.parse(violate(JSON.stringify({ urls }), 'listing', number));
    const at = urls.findIndex((entry, place) => JSON.stringify(entry) !== JSON.stringify(sent[place]));
    this.#spoilt.add(skip + at);
  }

  /**
   * What the night answered. A page that stands in the listing twice counts as it stands there last. Where a fault
   * spoilt an entry in one of several readings, either is right, and what the warehouse took decides.
   */
  dusk(night: number, complete: boolean, taken: Taken): Observed {
    const entries = new Map<string, CoverageEntry>();
    const refused = new Set<string>();
    const doubled = { least: 0, most: 0 };
    for (const [url, places] of this.#places()) {
      const isSpoilt = places.some((at) => this.#spoilt.has(at));
      const readings = places.map((at) => this.#entries[at] as CoverageEntry);
      const isTaken = (entry: CoverageEntry) => JSON.stringify(asRow(entry)) === JSON.stringify(taken.listed.get(url));
      const last = readings.at(-1) as CoverageEntry;
      const isMissed = isSpoilt && !taken.listed.has(url);
      if (!isMissed) entries.set(url, isSpoilt ? (readings.find(isTaken) ?? last) : last);
      if (isMissed && taken.refused.has(url)) refused.add(url);
      if (places.length > 1) doubled.most++;
      if (places.length > 1 && !isSpoilt) doubled.least++;
    }
    const listed = new Map([...entries].map(([url, entry]) => [url, asRow(entry)]));
    return {
      night: { night, complete, listed, refused, reports: this.#ended() },
      entries: [...entries.values()],
      doubled,
    };
  }

  /** Where each page that was answered stands. */
  #places(): Map<string, number[]> {
    const places = new Map<string, number[]>();
    for (const [at, { url }] of this.#entries.entries()) {
      if (this.#answered.has(at)) places.set(url, [...(places.get(url) ?? []), at]);
    }
    return places;
  }

  #ended(): ObservedNight['reports'] {
    return new Map([...this.#asked].map(([url, kind]) => [url, this.#endOf(url, kind)]));
  }

  /** The last request for a page's report decides: the others were faults that are tried again. */
  #endOf(url: string, kind: FaultKind | null) {
    const report = this.#reports.get(url) ?? null;
    if (kind !== null && kind !== 'slow') {
      const isAnswered = REJECTED.has(kind) && (report !== null || kind === 'html' || kind === 'invalid_json');
      if (isAnswered) return { outcome: 'rejected' as const, report: null };
      if (!REJECTED.has(kind)) return { outcome: 'failed' as const, report: null };
    }
    return { outcome: report ? ('fetched' as const) : ('missing' as const), report };
  }
}

/** An entry with a field that nobody knows, without one that everybody expects, or in a new state. */
function oddEntry(entry: CoverageEntry, draw: number): CoverageEntry {
  const { service_link: _, ...without } = entry;
  if (draw < 0.3) return without;
  return draw < 0.6 ? ({ ...entry, color: 'red' } as CoverageEntry) : { ...entry, index_coverage_state: ODD_STATE };
}

/** An entry as `coverage` has it: what is omitted is null. */
export function asRow(entry: CoverageEntry): Row {
  const fields = Object.keys(coverageEntrySchema.shape);
  const extra = Object.fromEntries(Object.entries(entry).filter(([field]) => !fields.includes(field)));
  return {
    ...pick({ ...entry }, fields),
    canonicals_match_present: Object.hasOwn(entry, 'canonicals_match'),
    extra: Object.keys(extra).length > 0 ? JSON.stringify(extra) : null,
  };
}

/** The same of a row that was read from `coverage`. */
export function asTaken(row: Row): Row {
  const { extra, canonicals_match_present } = row;
  return {
    ...pick(row, Object.keys(coverageEntrySchema.shape)),
    canonicals_match_present,
    extra: typeof extra === 'string' || !extra ? (extra ?? null) : JSON.stringify(extra),
  };
}

function pick(row: Row, fields: string[]): Row {
  const plain = (value: unknown) => (value instanceof Date ? value.toISOString() : (value ?? null));
  return Object.fromEntries(fields.map((field) => [field, plain(row[field])]));
}
