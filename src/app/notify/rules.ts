import { z } from 'zod';
import { askRows } from '../../answers/query/ask-rows.js';
import type { Reader } from '../../answers/query/reader.js';
import { driftRow, driftText, snapshotFacts } from '../../answers/status/website-status.js';
import { globExpression } from '../../base/config/globs.js';
import type { Drop } from '../../base/config/notify.js';
import type { Changed } from '../../base/config/page-filters.js';
import type { Config } from '../../base/config/schema.js';
import { viewsOf } from '../../base/config/views.js';
import { clause, count, counted, percent, queryCommand } from '../../base/observe/format.js';
import type { Parameters } from '../../base/storage/engine.js';
import { type Problem, problemsOf } from '../../warehouse/log/verdict.js';
import { type Notice, noticeOf, type Website } from './notice.js';

/** A drop of fewer pages is noise, whatever its share. */
const LEAST_DROP_PAGES = 10;
const EXAMPLES = 5;
/** A directory is smaller than its website, so that its share moves more from night to night. */
const DIRECTORY_DROP: Drop = { share: 0.2 };

/** A snapshot and the listings before it, as `app/notify/snapshots` returns them. */
export const snapshotRow = snapshotFacts.extend({
  website_id: z.string(),
  error: z.string().nullable(),
  before_id: z.string().nullable(),
  before_date: z.string().nullable(),
  partial_nights: z.int(),
  partial_since: z.string(),
});
export type Snapshot = z.infer<typeof snapshotRow> & Website;

const directoryRow = z.object({ directory: z.string(), now: z.int(), before: z.int() });

const placesRow = z.object({
  pages: z.int(),
  directory: z.string().nullable(),
  directory_pages: z.int().nullable(),
  state: z.string().nullable(),
  examples: z.array(z.string()),
  /** A clause, if hardly any was crawled since the night before. */
  crawls: z.string().nullable(),
  /** That they had in 28 days, as far as that is known. */
  clicks: z.int().default(0),
});
type Places = z.infer<typeof placesRow>;
const NOWHERE: Places = {
  ...{ pages: 0, directory: null, directory_pages: null, state: null },
  ...{ examples: [], crawls: null, clicks: 0 },
};

/** The notices about one snapshot. */
export async function ofSnapshot(
  reader: Reader,
  snapshot: Snapshot,
  config: Pick<Config, 'notify' | 'views'>,
): Promise<Notice[]> {
  return [
    ...(await drops(reader, snapshot, config.notify)),
    ...(await changed(reader, snapshot, 'watched', config)),
    ...(await changed(reader, snapshot, 'robots_blocked', config)),
    ...(await changed(reader, snapshot, 'canonical_flips', config)),
    ...ends(snapshot),
    ...(await drift(reader, snapshot)),
  ];
}

/** Losses between two complete listings: of the website, or else of the directories that lost too many pages. */
async function drops(reader: Reader, snapshot: Snapshot, rules: Config['notify']): Promise<Notice[]> {
  const { website_id: website, snapshot_id: now, snapshot_date, before_id: before, before_date: since } = snapshot;
  if (snapshot.listing_status === 'partial' || before === null || since === null) return [];
  const directories = await askRows(reader, 'app/notify/directories', directoryRow, { website, now, before });
  const total = { directory: null, now: sum(directories, 'now'), before: sum(directories, 'before') };
  const lost = isDrop(total, rules.indexed_drop) ? [total] : directories.filter((one) => isDrop(one, DIRECTORY_DROP));
  const [worst] = lost.toSorted((one, other) => lossOf(other) - lossOf(one));
  if (!worst) return [];
  const { directory, now: left, before: had } = worst;
  const places = await placesIn(reader, 'fallen_pages', { website, before, now, directory });
  const all = lost.length > 1 ? `; in all, ${count(lost.length)} directories lost too many` : '';
  const [kind, of, more] =
    directory === null
      ? (['indexed_drop', '', mostly(places)] as const)
      : (['directory_drop', ` of ${directory}`, `${deeper(places, directory)}${all}`] as const);
  const fell = `from ${count(had)} to ${count(left)} (−${percent(lossOf(worst) / had)})`;
  const what = `indexed pages${of} fell ${fell} since ${since}${more}${clause(places.crawls)}`;
  const command = queryCommand('compare', { website, since, until: snapshot_date, pages: 'true' });
  const given = { kind, what, count: lossOf(worst), since, command, ...where(places) };
  return [noticeOf(snapshot, now, { ...given, directory: directory ?? places.directory })];
}

/** Of the pages that fell out, so many may stay out for the loss to count as over. */
const LEFT_OUT = 0.1;

/** Whether pages that fell out of the index between two listings are mostly still out in a third one. */
export async function stillFallen(
  reader: Reader,
  { after, now, ...of }: Record<'website' | 'before' | 'after' | 'now', string>,
): Promise<boolean> {
  const fallenUntil = (until: string) => placesIn(reader, 'fallen_pages', { ...of, now: until, directory: null });
  return (await fallenUntil(now)).pages > LEFT_OUT * (await fallenUntil(after)).pages;
}

interface Fall {
  now: number;
  before: number;
}

function lossOf({ now, before }: Fall): number {
  return before - now;
}

function isDrop(fall: Fall, limit: Drop): boolean {
  const lost = lossOf(fall);
  if (lost <= 0) return false;
  if ('pages' in limit) return lost > limit.pages;
  return lost >= LEAST_DROP_PAGES && lost > limit.share * fall.before;
}

function sum(falls: readonly Fall[], key: keyof Fall): number {
  return falls.reduce((total, fall) => total + fall[key], 0);
}

async function placesIn(reader: Reader, statement: string, given: Parameters): Promise<Places> {
  const [places = NOWHERE] = await askRows(reader, `app/notify/${statement}`, placesRow, given);
  return places;
}

function mostly({ directory, directory_pages, clicks }: Places): string {
  const had = clicks > 0 ? `; those that left had ${counted(clicks, 'click')} in 28 days` : '';
  return directory === null ? had : `; ${count(directory_pages ?? 0)} of those that left were in ${directory}${had}`;
}

/** The directory below this one that holds most of the fall, if there is one. */
function deeper({ directory, directory_pages }: Places, around: string): string {
  if (directory === null || directory === around) return '';
  return `; ${count(directory_pages ?? 0)} of those that left were in ${directory}`;
}

function where({ directory, state, examples }: Places) {
  return { directory, state, examples };
}

/** `above`: so many pages that one night blocks or moves to another canonical are those of a change of the site. */
const CHANGES: Record<
  'watched' | 'robots_blocked' | 'canonical_flips',
  { above: number; one: string; what: string; analysis: string; since: 'since' | 'from'; changed?: Changed }
> = {
  watched: { above: 0, one: 'watched page', what: 'left the index', analysis: 'deindexed_pages', since: 'since' },
  robots_blocked: {
    above: 10,
    one: 'page',
    what: 'newly blocked by robots.txt',
    analysis: 'pages',
    since: 'from',
    changed: 'robots_blocked',
  },
  canonical_flips: {
    above: 50,
    one: 'page',
    what: 'whose canonical changed',
    analysis: 'canonical_flips',
    since: 'since',
  },
};

/** Whether more of the pages that changed in a snapshot than the rule allows are not yet what they were. */
export async function stillChanged(
  reader: Reader,
  snapshot: Website & { snapshot_id: string },
  kind: keyof typeof CHANGES,
  config: Pick<Config, 'notify' | 'views'>,
): Promise<boolean> {
  return (await changedPages(reader, snapshot, { kind, is_still: true }, config)) !== null;
}

/** The pages that changed in a snapshot; null if the rule allows so many, or if none is watched. */
async function changedPages(
  reader: Reader,
  { website_id: website, website_name, snapshot_id: snapshot }: Website & { snapshot_id: string },
  asked: { kind: keyof typeof CHANGES; is_still: boolean },
  { notify: { watch }, views }: Pick<Config, 'notify' | 'views'>,
): Promise<Places | null> {
  const own = viewsOf(views, { id: website, name: website_name });
  const pages = own.flatMap(({ name, pages }) => (watch.includes(name) ? [pages] : []));
  const patterns = watch.filter((one) => !views.some(({ name }) => name === one));
  if (asked.kind === 'watched' && patterns.length + pages.length === 0) return null;
  const among = {
    pattern: globExpression(patterns),
    directories: pages.map(({ directory = '' }) => directory),
    texts: pages.map(({ q = '' }) => q),
  };
  const versions = reader.filesOfSnapshot('page_versions', snapshot);
  const places = await placesIn(reader, 'changed_pages', { website, snapshot, versions, ...asked, ...among });
  return places.pages > CHANGES[asked.kind].above ? places : null;
}

/** The notice about pages that changed in a snapshot. */
async function changed(
  reader: Reader,
  snapshot: Snapshot,
  kind: keyof typeof CHANGES,
  config: Pick<Config, 'notify' | 'views'>,
): Promise<Notice[]> {
  const places = await changedPages(reader, snapshot, { kind, is_still: false }, config);
  if (places === null) return [];
  const { website_id: website, snapshot_id, snapshot_date, before_date } = snapshot;
  const { above, one, what, analysis, since, ...asked } = CHANGES[kind];
  const about = {
    kind,
    what: `${counted(places.pages, one)} ${what}${clause(places.crawls)}`,
    count: places.pages,
    command: queryCommand(analysis, { website, ...asked, [since]: snapshot_date }),
  };
  return [noticeOf(snapshot, snapshot_id, { ...about, since: before_date, ...where(places) })];
}

/** What was wrong with the end of the run that committed the snapshot. */
export function problemsIn(snapshot: Omit<Snapshot, 'website_name'>): Problem[] {
  const { reports_planned: planned, reports_failed: failed, reports_rejected: rejected } = snapshot;
  const { pages_listed: listed, pages_rejected } = snapshot;
  const counts = { pages: { listed, rejected: pages_rejected }, reports: { planned, failed, rejected } };
  return problemsOf({ ...snapshot, ...counts, status: 'committed' });
}

function ends(snapshot: Snapshot): Notice[] {
  const { snapshot_id, snapshot_at, partial_nights: nights, partial_since } = snapshot;
  return problemsIn(snapshot).map(({ kind, message, count }) => {
    const given = { kind, what: message, count, since: snapshot_at };
    if (kind !== 'partial') return noticeOf(snapshot, snapshot_id, given);
    const what = `${message} (${counted(nights, 'night')} in a row)`;
    return noticeOf(snapshot, snapshot_id, { ...given, kind, what, count: nights, since: partial_since });
  });
}

async function drift(reader: Reader, snapshot: Snapshot): Promise<Notice[]> {
  const { website_id: website, snapshot_id, snapshot_at, snapshot_date } = snapshot;
  const rows = await askRows(reader, 'answers/status/new_drift', driftRow, { snapshot: snapshot_id }, website);
  if (rows.length === 0) return [];
  const named = rows.slice(0, EXAMPLES).map(driftText);
  const more = rows.length > EXAMPLES ? `, and ${count(rows.length - EXAMPLES)} more` : '';
  const what = `the service sent for the first time: ${named.join(', ')}${more}`;
  const examples = [...new Set(rows.flatMap(({ sample }) => sample ?? []))].slice(0, EXAMPLES);
  const command = queryCommand('drift_diary', { website, since: snapshot_date });
  const given = { what, count: rows.length, since: snapshot_at, examples, command };
  return [noticeOf(snapshot, snapshot_id, { kind: 'drift', ...given })];
}
