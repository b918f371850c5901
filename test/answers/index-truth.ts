import { type Row, readTable } from '../given/parquet.js';

/** A snapshot: what its listing shows of each page. A page whose record was rejected keeps its last state. */
export interface IndexTruth {
  snapshotId: string;
  date: string;
  isComplete: boolean;
  pages: Map<string, Row>;
  /** Every page that was ever listed by then, with the newest listing that shows it. */
  known: ReadonlyMap<string, Known>;
}

export interface Known {
  status: string;
  row: Row;
  hadData: boolean;
}

/** What moved between two complete listings: addresses of pages. */
export interface Moved {
  before: IndexTruth;
  now: IndexTruth;
  indexedBefore: string[];
  indexed: string[];
  fellOut: string[];
  entered: string[];
  returned: string[];
}

/** The snapshots of a website, oldest first, from the bare files and the definition alone. */
export async function snapshotsOf(warehouse: string, website = 'shop'): Promise<IndexTruth[]> {
  const tables = (['snapshots', 'coverage', 'rejected_records'] as const).map((table) => readTable(warehouse, table));
  const all = await Promise.all(tables);
  const [snapshots = [], coverage = [], rejected = []] = all.map((rows) =>
    rows.filter((row) => row['website_id'] === website),
  );
  let listed = new Map<string, Row>();
  let known: ReadonlyMap<string, Known> = new Map();
  return snapshots.toSorted(byId).map((snapshot): IndexTruth => {
    const { snapshot_id: id, listing_status: status, snapshot_at: at } = snapshot;
    const own = (rows: Row[]) => rows.filter((row) => row['snapshot_id'] === id);
    const refused = own(rejected).filter(({ source }) => source === 'coverage');
    const isComplete = status === 'complete';
    // What a complete listing lacks is no longer listed.
    const kept = [...listed].filter(([url]) => !isComplete || refused.some((row) => row['url'] === url));
    listed = new Map([...kept, ...own(coverage).map((row) => [String(row['url']), row] as const)]);
    known = knownAfter(known, listed);
    const date = at instanceof Date ? at.toISOString().slice(0, 10) : '';
    return { snapshotId: String(id), date, isComplete, pages: listed, known };
  });
}

function knownAfter(before: ReadonlyMap<string, Known>, listed: ReadonlyMap<string, Row>): ReadonlyMap<string, Known> {
  const known = new Map<string, Known>([...before].map(([url, page]) => [url, { ...page, status: 'gone' }]));
  for (const [url, row] of listed) {
    const summary = row['index_summary'] ?? null;
    const hadData = summary !== null || (before.get(url)?.hadData ?? false);
    const unknown = hadData ? 'data_lost' : 'no_data';
    known.set(url, {
      row,
      hadData,
      status: summary === null ? unknown : summary === 'Indexed' ? 'indexed' : 'not_indexed',
    });
  }
  return known;
}

/**
 * What fell out of the index and what entered it in a period of dates: between the last complete listing before it, or
 * else that of the first date, and the last one of it. Null if there are no two.
 */
export function movedIn(snapshots: readonly IndexTruth[], since: string, until: string): Moved | null {
  const complete = snapshots.filter(({ isComplete }) => isComplete);
  const now = complete.findLast(({ date }) => date <= until);
  const before =
    complete.findLast(({ date }) => date < since) ?? complete.findLast(({ date }) => date === complete[0]?.date);
  if (!now || !before || now.date < since || now === before) return null;
  return moved(snapshots, before, now);
}

export function moved(snapshots: readonly IndexTruth[], before: IndexTruth, now: IndexTruth): Moved {
  const [then, later] = [indexedIn(before), indexedIn(now)];
  const between = snapshots.slice(snapshots.indexOf(before) + 1, snapshots.indexOf(now)).map(indexedIn);
  const stayed = then.filter((url) => later.includes(url));
  return {
    before,
    now,
    indexedBefore: then,
    indexed: later,
    fellOut: then.filter((url) => !later.includes(url)),
    entered: later.filter((url) => !then.includes(url)),
    returned: stayed.filter((url) => between.some((urls) => !urls.includes(url))),
  };
}

function indexedIn({ pages }: IndexTruth): string[] {
  return [...pages].flatMap(([url, row]) => (row['index_summary'] === 'Indexed' ? [url] : [])).sort();
}

function byId(one: Row, other: Row): number {
  return String(one['snapshot_id']) < String(other['snapshot_id']) ? -1 : 1;
}
