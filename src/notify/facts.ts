import { z } from 'zod';
import { askRows } from '../analysis/ask-rows.js';
import type { Reader } from '../analysis/reader.js';
import { type WebsiteStatus, websiteRow } from '../analysis/website-status.js';
import { globExpression } from '../config/globs.js';
import type { Drop } from '../config/notify.js';
import type { Config } from '../config/schema.js';
import { count, counted, duration, percent } from '../observe/format.js';
import { type Kind, type Notice, noticeOf, queryCommand, type Website } from './notice.js';

/** A share of fewer pages than these is noise. */
const LEAST_DROP_PAGES = 10;
/** Snapshots of a website that are looked at once nobody was told of them for long. */
const MOST_SNAPSHOTS = 7;
const EXAMPLES = 5;
const ALL_DIRECTORIES = 1_000_000;

const snapshotRow = z.object({
  website_id: z.string(),
  snapshot_id: z.string(),
  snapshot_at: z.string(),
  snapshot_date: z.string(),
  listing_status: z.enum(['complete', 'partial']),
  pages_listed: z.int(),
  pages_rejected: z.int(),
  reports_planned: z.int(),
  reports_rejected: z.int(),
  before_id: z.string().nullable(),
  before_date: z.string().nullable(),
  partial_nights: z.int(),
  partial_since: z.string(),
});
type Snapshot = z.infer<typeof snapshotRow> & Website;

const failedRow = z.object({
  website_id: z.string(),
  run_id: z.string(),
  error: z.string(),
  failed: z.int(),
  since: z.string(),
});

const driftRow = z.object({
  kind: z.string(),
  field: z.string(),
  value: z.string().nullable(),
  occurrences: z.int(),
  sample: z.string().nullable(),
});

const directoryRow = z.object({ directory: z.string(), indexed: z.int(), indexed_before: z.int().nullable() });

const placesRow = z.object({
  pages: z.int(),
  directory: z.string().nullable(),
  directory_pages: z.int().nullable(),
  state: z.string().nullable(),
  examples: z.array(z.string()),
});
type Places = z.infer<typeof placesRow>;

export interface Facts {
  notices: Notice[];
  /** The newest snapshot of each website by its id: what is older needs no second look. */
  seen: Record<string, string>;
}

export interface FactsInput {
  config: Pick<Config, 'notify' | 'quality' | 'websites'>;
  /** Of the check before; a website that is not in it is told of by its newest snapshot alone. */
  seen: Readonly<Record<string, string>>;
  /** Milliseconds: the age above which a snapshot is stale. */
  maxAge: number;
  /** Milliseconds since 1970. */
  now: number;
}

/** What the rules find in a warehouse: failed runs, old snapshots, and what is wrong with snapshots that are new. */
export async function readFacts(reader: Reader, input: FactsInput): Promise<Facts> {
  const { config, seen, now } = input;
  const checked_at = new Date(now).toISOString();
  const known = await askRows(reader, 'status/websites', websiteRow, { checked_at });
  const websites = known.map((website) => ({ ...website, website_name: nameOf(website, config) }));
  const snapshots = (await askRows(reader, 'notify/snapshots', snapshotRow, { newest: MOST_SNAPSHOTS })).flatMap(
    (snapshot) => {
      const website = websites.find(({ website_id }) => website_id === snapshot.website_id);
      const last = seen[snapshot.website_id];
      const isNew =
        last === undefined ? website?.last_snapshot?.snapshot_id === snapshot.snapshot_id : last < snapshot.snapshot_id;
      return website && isNew ? [{ ...snapshot, website_name: website.website_name }] : [];
    },
  );
  const notices = [...(await failedRuns(reader, websites, input)), ...websites.flatMap((one) => stale(one, input))];
  for (const snapshot of snapshots) notices.push(...(await ofSnapshot(reader, snapshot, input)));
  const newest = websites.flatMap(({ website_id, last_snapshot }) =>
    last_snapshot ? [[website_id, last_snapshot.snapshot_id]] : [],
  );
  return { notices, seen: { ...seen, ...Object.fromEntries(newest) } };
}

function nameOf({ website_id, website_name }: Website, { websites }: Pick<Config, 'websites'>): string | null {
  const named = websites === 'all' ? undefined : websites.find(({ id }) => id === website_id)?.name;
  return named ?? website_name;
}

async function failedRuns(reader: Reader, websites: WebsiteStatus[], { config }: FactsInput): Promise<Notice[]> {
  if (!config.notify.failed) return [];
  const failed = await askRows(reader, 'notify/failed_runs', failedRow, {});
  return failed.map(({ website_id, run_id, error, failed, since }) => {
    const website = websites.find((one) => one.website_id === website_id);
    const before = failed > 1 ? `; so did ${counted(failed - 1, 'run')} before it` : '';
    return failedNotice({ website_id, website_name: website?.website_name ?? null }, run_id, `${error}${before}`, {
      count: failed,
      since,
    });
  });
}

/** A run that got no snapshot of a website. */
export function failedNotice(
  website: Website,
  runId: string,
  error: string,
  { count, since }: Pick<Notice, 'count' | 'since'>,
): Notice {
  const what = `the last run failed: ${error}`;
  return noticeOf(website, runId, { kind: 'failed', what, count, since, command: 'indexhouse status' });
}

/** Told once for each run, because its id follows from the newest one. */
function stale(website: WebsiteStatus, { config, maxAge }: FactsInput): Notice[] {
  const { last_snapshot: last, last_run } = website;
  if (!config.notify.stale || !last || last.age_seconds * 1000 <= maxAge) return [];
  const age = duration(last.age_seconds * 1000);
  const what = `the last snapshot is ${age} old, more than ${duration(maxAge)}`;
  const given = {
    what,
    count: Math.floor(last.age_seconds / 86_400),
    since: last.snapshot_at,
    command: 'indexhouse status',
  };
  return [noticeOf(website, last_run?.run_id ?? last.snapshot_id, { kind: 'stale', ...given })];
}

async function ofSnapshot(reader: Reader, snapshot: Snapshot, { config }: FactsInput): Promise<Notice[]> {
  const { notify, quality } = config;
  return [
    ...(await drops(reader, snapshot, notify)),
    ...(await changed(reader, snapshot, 'watched', notify.watch.length > 0 ? 0 : false, globExpression(notify.watch))),
    ...(await changed(reader, snapshot, 'robots_blocked', notify.robots_blocked)),
    ...(await changed(reader, snapshot, 'canonical_flips', notify.canonical_flips)),
    ...partial(snapshot, notify.partial_nights),
    ...(notify.rejects ? rejects(snapshot, quality.max_reject_ratio) : []),
    ...(notify.drift ? await drift(reader, snapshot) : []),
  ];
}

/** Between two complete listings: of the website, or else of the directories that lost too many. */
async function drops(reader: Reader, snapshot: Snapshot, rules: Config['notify']): Promise<Notice[]> {
  const { website_id: website, snapshot_id: now, snapshot_date, before_id: before, before_date } = snapshot;
  if (snapshot.listing_status === 'partial' || before === null || before_date === null) return [];
  if (rules.indexed_drop === false && rules.directory_drop === false) return [];
  const period = { since: snapshot_date, until: snapshot_date, limit: ALL_DIRECTORIES };
  const rows = await askRows(reader, 'report/directories', directoryRow, {
    website,
    ...period,
    now: [now],
    before: [before],
  });
  const all = rows.map(({ directory, indexed, indexed_before }) => ({
    directory,
    now: indexed,
    before: indexed_before ?? 0,
  }));
  const total = { now: sum(all, 'now'), before: sum(all, 'before') };
  const command = queryCommand('listing_diff', website, { since: before_date, until: snapshot_date });
  const told = { since: before_date, command };
  if (isDrop(total, rules.indexed_drop)) {
    const places = await fallen(reader, { before, now, directory: null });
    const what = `indexed pages fell ${fell(total)} since ${before_date}${mostly(places)}`;
    return [
      noticeOf(snapshot, now, {
        kind: 'indexed_drop',
        what,
        count: total.before - total.now,
        ...told,
        ...where(places),
      }),
    ];
  }
  const lost = all.filter((one) => isDrop(one, rules.directory_drop));
  const worst = lost.reduce((most, one) => (one.before - one.now > most.before - most.now ? one : most), {
    directory: '',
    now: 0,
    before: 0,
  });
  if (lost.length === 0) return [];
  const places = await fallen(reader, { before, now, directory: worst.directory });
  const more =
    lost.length > 1
      ? `; ${counted(lost.length - 1, 'more directory').replace('directorys', 'directories')} lost too many`
      : '';
  const what = `indexed pages of ${worst.directory} fell ${fell(worst)} since ${before_date}${more}`;
  const given = { what, count: worst.before - worst.now, ...told, ...where(places), directory: worst.directory };
  return [noticeOf(snapshot, now, { kind: 'directory_drop', ...given })];
}

interface Fall {
  now: number;
  before: number;
}

function isDrop({ now, before }: Fall, limit: Drop): boolean {
  const lost = before - now;
  if (limit === false || lost <= 0) return false;
  if ('pages' in limit) return lost > limit.pages;
  return lost >= LEAST_DROP_PAGES && lost > limit.share * before;
}

function fell({ now, before }: Fall): string {
  return `from ${count(before)} to ${count(now)} (−${percent((before - now) / before)})`;
}

function sum(falls: readonly Fall[], key: keyof Fall): number {
  return falls.reduce((total, fall) => total + fall[key], 0);
}

async function fallen(
  reader: Reader,
  given: { before: string; now: string; directory: string | null },
): Promise<Places> {
  return onePlaces(await askRows(reader, 'notify/fallen_pages', placesRow, given));
}

function onePlaces([places]: Places[]): Places {
  return places ?? { pages: 0, directory: null, directory_pages: null, state: null, examples: [] };
}

function mostly({ directory, directory_pages }: Places): string {
  return directory === null ? '' : `; ${count(directory_pages ?? 0)} of those that left were in ${directory}`;
}

function where({ directory, state, examples }: Places) {
  return { directory, state, examples };
}

const CHANGES: Record<
  'watched' | 'robots_blocked' | 'canonical_flips',
  { what: string; analysis: string; dated: boolean }
> = {
  watched: { what: 'of the watched pages left the index', analysis: 'deindexed_pages', dated: true },
  robots_blocked: { what: 'newly blocked by robots.txt', analysis: 'robots_blocked', dated: false },
  canonical_flips: { what: 'with another canonical than before', analysis: 'canonical_flips', dated: true },
};

/** @param above more pages than these are told; false: none are */
async function changed(
  reader: Reader,
  snapshot: Snapshot,
  kind: Kind & keyof typeof CHANGES,
  above: number | false,
  pattern: string | null = null,
): Promise<Notice[]> {
  if (above === false) return [];
  const { website_id: website, snapshot_id, snapshot_date } = snapshot;
  const given = { website, snapshot: snapshot_id, kind, pattern };
  const places = onePlaces(await askRows(reader, 'notify/changed_pages', placesRow, given));
  if (places.pages <= above) return [];
  const { what, analysis, dated } = CHANGES[kind];
  const command = queryCommand(analysis, website, dated ? { since: snapshot_date } : {});
  const told = {
    kind,
    what: `${counted(places.pages, 'page')} ${what}`,
    count: places.pages,
    since: snapshot.before_date,
  };
  return [noticeOf(snapshot, snapshot_id, { ...told, command, ...where(places) })];
}

function partial(snapshot: Snapshot, nights: number | false): Notice[] {
  const { partial_nights, partial_since, snapshot_id } = snapshot;
  if (nights === false || partial_nights < nights) return [];
  const what = `the listing was partial for ${counted(partial_nights, 'night')}`;
  const given = { what, count: partial_nights, since: partial_since, command: 'indexhouse status' };
  return [noticeOf(snapshot, snapshot_id, { kind: 'partial', ...given })];
}

function rejects(snapshot: Snapshot, ratio: number): Notice[] {
  const { pages_rejected, pages_listed, reports_rejected, reports_planned, snapshot_id, snapshot_at } = snapshot;
  if (pages_rejected <= ratio * pages_listed && reports_rejected <= ratio * reports_planned) return [];
  const what = `${count(pages_rejected)} of ${counted(pages_listed, 'page')} and ${count(reports_rejected)} of ${counted(reports_planned, 'report')} were rejected`;
  const command = `indexhouse query --sql "from quarantine where snapshot_id = '${snapshot_id}'"`;
  const given = { what, count: pages_rejected + reports_rejected, since: snapshot_at, command };
  return [noticeOf(snapshot, snapshot_id, { kind: 'rejects', ...given })];
}

async function drift(reader: Reader, snapshot: Snapshot): Promise<Notice[]> {
  const { website_id: website, snapshot_id, snapshot_at, snapshot_date } = snapshot;
  const rows = await askRows(reader, 'notify/new_drift', driftRow, { website, snapshot: snapshot_id });
  if (rows.length === 0) return [];
  const named = rows
    .slice(0, EXAMPLES)
    .map(({ kind, field, value }) => `${kind.replaceAll('_', ' ')} ${field}${value === null ? '' : ` = ${value}`}`);
  const more = rows.length > EXAMPLES ? `, and ${count(rows.length - EXAMPLES)} more` : '';
  const what = `the interface shows for the first time: ${named.join(', ')}${more}`;
  const examples = [...new Set(rows.flatMap(({ sample }) => sample ?? []))].slice(0, EXAMPLES);
  const command = queryCommand('drift_diary', website, { since: snapshot_date });
  return [
    noticeOf(snapshot, snapshot_id, { kind: 'drift', what, count: rows.length, since: snapshot_at, examples, command }),
  ];
}
