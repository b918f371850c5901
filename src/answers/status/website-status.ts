import { z } from 'zod';
import { count, counted, shellWord } from '../../base/observe/format.js';
import type { Engine } from '../../base/storage/engine.js';
import { wholeFiles } from '../../base/storage/parquet-file.js';
import { sql } from '../../base/storage/sql.js';
import { KNOWN_VALUES } from '../../source/contract/known-values.js';
import { type DamagedFile, DamageError } from '../../warehouse/log/folder/damage.js';
import { type Log, openLog } from '../../warehouse/log/log.js';
import { filesOf, markersOf, newestMarkers } from '../../warehouse/log/markers.js';
import { readStates, type StateOptions } from '../../warehouse/log/state.js';

const time = z.iso.datetime();

/** Of a property, the days of search analytics that later nights fetch, and those that are unknown. Null for others. */
export const unreadDays = z.object({
  search_days_left: z.int().nullable(),
  search_days_unknown: z.int().nullable(),
});

/** Such as `380 days of search analytics are not read yet`; null without any. */
export function unreadText(days: z.infer<typeof unreadDays> | null | undefined): string | null {
  const { search_days_left: left, search_days_unknown: unknown } = days ?? {};
  const of = (number: number, what: string) =>
    `${counted(number, 'day')} of search analytics ${number === 1 ? 'is' : 'are'} ${what}`;
  const parts = [
    ...(left ? [of(left, 'not read yet')] : []),
    ...(unknown ? [of(unknown, 'unknown: Google gives no figures, or has corrected them')] : []),
  ];
  return parts.join('; ') || null;
}

/** What `snapshots` has of one. */
export const snapshotFacts = unreadDays.extend({
  snapshot_id: z.string(),
  run_id: z.string(),
  snapshot_at: time,
  snapshot_date: z.string(),
  listing_status: z.enum(['complete', 'partial']),
  pages_expected: z.int().nullable(),
  pages_listed: z.int(),
  pages_rejected: z.int(),
  reports_status: z.string(),
  source: z.string().nullable(),
  sources_quiet: z.string().nullable(),
  rejected_for: z.string().nullable(),
  reports_planned: z.int(),
  reports_fetched: z.int(),
  reports_missing: z.int(),
  reports_failed: z.int(),
  reports_rejected: z.int(),
});

export const websiteRow = z.object({
  website_id: z.string(),
  website_name: z.string().nullable().default(null),
  /** False if the configuration lists websites, and not this one: nothing about it is worth a warning. */
  is_configured: z.boolean().default(true),
  /** How many inspections the properties of a website allow in a day; null for other websites. */
  inspections_a_day: z.int().nullable().default(null),
  snapshots: z.int().default(0),
  last_snapshot: snapshotFacts.extend({ finished_at: time, age_seconds: z.int() }).nullable().default(null),
  /** The newest run that ended, with or without a snapshot. */
  last_run: z
    .object({
      run_id: z.string(),
      started_at: time,
      finished_at: time,
      outcome: z.enum(['committed', 'failed']),
      error: z.string().nullable(),
      requests_sent: z.int(),
      requests_throttled: z.int(),
      requests_retried: z.int(),
      utilisation: z.number().nullable(),
    })
    .nullable()
    .default(null),
  /** The pages that are monitored now, how many of them have a report, and the ages of those reports. */
  pages: z
    .object({
      monitored: z.int(),
      with_report: z.int(),
      oldest_report_seconds: z.int().nullable(),
      median_report_seconds: z.int().nullable(),
      p90_report_seconds: z.int().nullable(),
      report_share: z.number(),
      /** Those that look as if they fell. */
      unconfirmed: z.int(),
    })
    .nullable()
    .default(null),
});
/** One website as the warehouse knows it. Times are ISO 8601 in UTC. */
export type WebsiteStatus = z.infer<typeof websiteRow>;

/** What a website is called: its name, or else its id. */
export function nameOf({ website_id, website_name }: Pick<WebsiteStatus, 'website_id' | 'website_name'>): string {
  return website_name ?? website_id;
}

/** That some pages look as if they fell, beside those that did. */
export function unconfirmedText(pages: number): string {
  return `${count(pages)} more ${pages === 1 ? 'looks as if it' : 'look as if they'} fell; not confirmed`;
}

/** What to say about a website that is no longer configured. */
export function notConfigured({ website_id }: Pick<WebsiteStatus, 'website_id'>): string {
  return `${website_id} is no longer configured; \`indexhouse remove --website ${shellWord(website_id)}\` removes it`;
}

export const driftRow = z.object({
  website_id: z.string(),
  source: z.string(),
  kind: z.string(),
  field: z.string(),
  value: z.string().nullable(),
  occurrences: z.int(),
  sample: z.string().nullable(),
});
/** Drift that a website's newest snapshot showed for the first time. */
export type NewDrift = z.infer<typeof driftRow>;

/** Such as `new value index_summary = Maybe`. */
export function driftText({ kind, field, value }: Pick<NewDrift, 'kind' | 'field' | 'value'>): string {
  return `${kind.replaceAll('_', ' ')} ${field}${value === null ? '' : ` = ${value}`}`;
}

/** How many monitored pages of a website have a verdict and a coverage state. */
const pageStateRow = z.object({
  website_id: z.string(),
  /** `other`: not in the contract; `none`: the service sent none. */
  verdict: z.string(),
  state: z.string(),
  pages: z.int(),
});

const sourcesRow = z.object({
  website_id: z.string(),
  sources: z.int(),
  /** That name a page. */
  naming: z.int(),
  /** Sitemaps that answer 404 or 410. */
  gone: z.int(),
  failed: z.int(),
  /** With something else that is wrong, and harms nothing. */
  remarked: z.int(),
});
/** How what names the pages of a property was read for its newest snapshot. */
export type SourcesRead = z.infer<typeof sourcesRow>;

export interface WebsitesInput extends Pick<StateOptions, 'onRebuilt'> {
  warehouse: string;
  /** Bytes. */
  memoryLimit: number;
  /** Websites that are configured, shown even before their first run. */
  websites: readonly { id: string; name: string | null }[];
  /** Whether the configuration names all websites but this one. */
  isExcepted?: (id: string) => boolean;
  /** Milliseconds since 1970. */
  now: number;
}

/** What the Parquet files that can be read say about each website, the others, and the log that was read for it. */
export async function readWebsites(engine: Engine, input: WebsitesInput, temporary: string) {
  const { warehouse } = input;
  // Most files are read several times.
  await engine.run('set parquet_metadata_cache = true; set enable_external_file_cache = false');
  const log = await openLog(engine, warehouse, { temporary, index: 'lazily' });
  await log.load(null);
  const states = await readableStates(log, input, temporary);
  const found = [...log.damaged, ...(await log.findTorn()), ...states.damaged];
  for (const table of ['snapshots', 'runs', 'note_log', 'drift_observations'] as const)
    found.push(...(await log.mount(table)));
  const damaged = [...new Map(found.map((file) => [file.path, file])).values()];
  await engine.view('page_state', log.query('page_state', states.files));
  const newest = filesOf(warehouse, newestMarkers(log.markers), 'listing_sources');
  await engine.view('listing_sources', log.query('listing_sources', await wholeFiles(newest)));
  const complete = newestMarkers(log.markers.filter(({ listingComplete }) => listingComplete));
  const listings = await wholeFiles(filesOf(warehouse, complete, 'coverage_summary'));
  await engine.view('coverage_summary', log.query('coverage_summary', listings));
  const checked_at = new Date(input.now).toISOString();
  const known = await engine.rows(websiteRow, sql('answers/status/websites'), { checked_at });
  const sources = await engine.rows(sourcesRow, sql('answers/status/sources'));
  const drift = await engine.rows(driftRow, sql('answers/status/new_drift'), { snapshot: null });
  const { index_summary: known_summaries = [], index_coverage_state: known_states = [] } = KNOWN_VALUES.coverage;
  await engine.set({ known_summaries: [...known_summaries], known_states: [...known_states] });
  const pageStates = await engine.rows(pageStateRow, sql('answers/status/page_states'));
  const ids = new Set([...input.websites.map(({ id }) => id), ...known.map(({ website_id }) => website_id)]);
  const websites = [...ids].map((website_id) => {
    const website = known.find((one) => one.website_id === website_id) ?? websiteRow.parse({ website_id });
    const own = input.websites.find(({ id }) => id === website_id);
    const is_configured = own !== undefined || (input.websites.length === 0 && !input.isExcepted?.(website_id));
    return { ...website, website_name: own?.name ?? website.website_name, is_configured };
  });
  // Of a mistyped id there are only runs, which say nothing.
  const isShown = ({ is_configured, snapshots }: WebsiteStatus) => is_configured || snapshots > 0;
  return { log, websites: websites.filter(isShown), drift, sources, pageStates, damaged };
}

/** The states of the websites whose log can be read: of all at once or, if files are damaged, of one after the other. */
async function readableStates(log: Log, { memoryLimit, onRebuilt }: WebsitesInput, temporary: string) {
  const options = { memoryLimit, temporary, onRebuilt };
  const found: { files: string[]; damaged: DamagedFile[] } = { files: [], damaged: [] };
  const add = async (website: string | null) => {
    try {
      log.check(website);
      const markers = website === null ? log.markers : markersOf(log.markers, website);
      found.files.push(...(await readStates(log.engine, { path: log.path, markers }, options)));
    } catch (error) {
      if (!(error instanceof DamageError)) throw error;
      if (website !== null) found.damaged.push(...error.damaged);
      else for (const { websiteId } of newestMarkers(log.markers)) await add(websiteId);
    }
  };
  await add(null);
  return found;
}
