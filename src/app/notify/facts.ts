import { z } from 'zod';
import { askRows } from '../../answers/query/ask-rows.js';
import type { Reader } from '../../answers/query/reader.js';
import { staleText } from '../../answers/status/data-age.js';
import { missedNight } from '../../answers/status/found.js';
import { dueOf } from '../../answers/status/status-input.js';
import { type WebsiteStatus, websiteRow } from '../../answers/status/website-status.js';
import type { Config } from '../../base/config/schema.js';
import { isExcepted, websiteOf } from '../../base/config/websites.js';
import { counted, duration } from '../../base/observe/format.js';
import { sql } from '../../base/storage/sql.js';
import { calendarDate, DAY_MS } from '../../base/time.js';
import { endingSignIns } from '../../source/search-console/credentials.js';
import type { LongOutage } from '../../sync/outage.js';
import { lagOf, problemsIn, type Receipt } from '../../sync/receipt.js';
import { readRunFile } from '../../warehouse/journal/run-file.js';
import { warehouseFolder } from '../../warehouse/log/folder/layout.js';
import { conditionOf, type Notice, noticeOf, noticeOfNone, overNotice, type Website } from './notice.js';
import { type Over, type OverInput, overOf } from './over.js';
import { ofSnapshot, snapshotRow } from './rules.js';

/** The most snapshots of a website that one check examines, however long ago the last check was. */
const MOST_SNAPSHOTS = 7;

const failedRow = z.object({
  website_id: z.string(),
  run_id: z.string(),
  error: z.string(),
  failed: z.int(),
  since: z.string().nullable(),
});

export interface Facts {
  notices: Notice[];
  /** The newest snapshot of each website, by its id: it and older ones have been examined. */
  seen: Record<string, string>;
  over: Over[];
  /** When a website without a finished run was first noticed, ISO 8601 by its id. */
  unsynced: Record<string, string>;
}

interface FactsInput {
  config: Config;
  /** From the previous check. For a website that it lacks, only the newest snapshot is examined. */
  seen: Readonly<Record<string, string>>;
  /** From the previous check. */
  unsynced: Readonly<Record<string, string>>;
  told?: OverInput['told'];
  ofRun?: OverInput['ofRun'];
  /** Milliseconds: the age above which a snapshot is stale. */
  maxAge: number;
  /** Milliseconds since 1970. */
  now: number;
}

/** What the rules find in a warehouse: failed runs, old snapshots, and what is wrong with new snapshots. */
export async function readFacts(reader: Reader, input: FactsInput): Promise<Facts> {
  const { config, seen, now } = input;
  await reader.rows(z.unknown(), sql('app/notify/places_of'));
  const checked_at = new Date(now).toISOString();
  const all = await askRows(reader, 'answers/status/websites', websiteRow, { checked_at });
  // Nothing is reported about a website that is no longer configured, such as the age of its snapshots.
  const { websites: configured } = config;
  const found = all.map(({ website_id }) => website_id).filter((id) => !isExcepted(config, id));
  const ids = Array.isArray(configured) ? configured.map(({ id }) => id) : found;
  const known = all.filter(({ website_id }) => ids.includes(website_id));
  const websites = known.map((website) => ({ ...website, website_name: configuredName(website, config) }));
  const recent = await askRows(reader, 'app/notify/snapshots', snapshotRow, { newest: MOST_SNAPSHOTS });
  const snapshots = recent.flatMap((snapshot) => {
    const website = websites.find(({ website_id }) => website_id === snapshot.website_id);
    const last = seen[snapshot.website_id];
    const isNew = last ? last < snapshot.snapshot_id : website?.last_snapshot?.snapshot_id === snapshot.snapshot_id;
    return website && isNew ? [{ ...snapshot, website_name: website.website_name }] : [];
  });
  const unsynced = unsyncedSince(ids, known, input);
  const notices = [
    ...(await failedRuns(reader, websites)),
    ...(await missedNights(reader, websites, input)),
    ...signIns(input),
    ...websites.flatMap((one) => stale(one, input)),
    ...Object.entries(unsynced).flatMap(([id, since]) => neverSynced(id, since, input)),
  ];
  for (const snapshot of snapshots) notices.push(...(await ofSnapshot(reader, snapshot, config)));
  const newest = websites.flatMap(({ website_id, last_snapshot }) =>
    last_snapshot ? [[website_id, last_snapshot.snapshot_id]] : [],
  );
  const { told = [], ofRun = null } = input;
  const given = { config, told, ofRun, websites, notices: [...notices, ...(ofRun ?? [])], recent };
  return { notices, over: await overOf(reader, given), seen: { ...seen, ...Object.fromEntries(newest) }, unsynced };
}

async function missedNights(reader: Reader, websites: WebsiteStatus[], { config, now }: FactsInput): Promise<Notice[]> {
  // Without all websites, the last night is not known.
  if (reader.options.websites) return [];
  const given = { warehouse: reader.options.warehouse, due: dueOf(config), now };
  const what = await missedNight(reader.markers, websites, given);
  const last = reader.markers.at(-1)?.snapshotId ?? '';
  return what === null ? [] : [noticeOfNone(last, { kind: 'overdue', what, count: 1, since: null })];
}

/** The sign-ins that end soon, once for the same ones. */
function signIns({ config, now }: FactsInput): Notice[] {
  const ending = endingSignIns(config, now);
  const [what, fact] = [ending.map(({ text }) => text).join('; '), ending.map(({ ends }) => ends).join(' ')];
  return what ? [noticeOfNone(fact, { kind: 'sign_in', what, count: ending.length, since: null })] : [];
}

/** Counts from the first check that did not find the website, because nothing records when it was configured. */
function unsyncedSince(ids: string[], known: Website[], { unsynced, now }: FactsInput): Record<string, string> {
  const missing = ids.filter((id) => !known.some(({ website_id }) => website_id === id));
  return Object.fromEntries(missing.map((id) => [id, unsynced[id] ?? new Date(now).toISOString()]));
}

function configuredName({ website_id, website_name }: Website, { websites }: Pick<Config, 'websites'>): string | null {
  const named = Array.isArray(websites) ? websites.find(({ id }) => id === website_id)?.name : undefined;
  return named ?? website_name;
}

async function failedRuns(reader: Reader, websites: WebsiteStatus[]): Promise<Notice[]> {
  const failed = await askRows(reader, 'app/notify/failed_runs', failedRow, {});
  // A run that could write no row of `runs`, such as on a full disk, has left why.
  const left = (await readRunFile(warehouseFolder(reader.options.warehouse).run))?.failed ?? {};
  for (const [website_id, { run_id, error }] of Object.entries(left)) {
    const isOlder = websites.some((one) => one.website_id === website_id && (one.last_run?.run_id ?? '') >= run_id);
    if (!isOlder && run_id !== '') failed.push({ website_id, run_id, error, failed: 1, since: null });
  }
  return failed.flatMap(({ website_id, run_id, error, failed: count, since }) => {
    const website = websites.find((one) => one.website_id === website_id);
    const before = count > 1 ? `; so did ${counted(count - 1, 'run')} before it` : '';
    const what = `the last run got no snapshot: ${error}${before}`;
    return website ? [noticeOf(website, run_id, { kind: 'failed', what, count, since })] : [];
  });
}

/** Reported once after each run, because the notice's id contains that of the newest run. */
function stale(website: WebsiteStatus, { maxAge }: FactsInput): Notice[] {
  const { last_snapshot: last, last_run } = website;
  const what = last && staleText(last.age_seconds * 1000, maxAge);
  if (!last || !what) return [];
  const given = { what, count: Math.floor(last.age_seconds / 86_400), since: last.snapshot_at };
  return [noticeOf(website, last_run?.run_id ?? last.snapshot_id, { kind: 'stale', ...given })];
}

/** A website that has been configured for longer than `maxAge`, without a snapshot. */
function neverSynced(id: string, since: string, { config, maxAge, now }: FactsInput): Notice[] {
  const age = now - Date.parse(since);
  if (age <= maxAge) return [];
  const website = { website_id: id, website_name: configuredName({ website_id: id, website_name: null }, config) };
  const what = `no snapshot yet, and it has been configured for ${duration(age)}`;
  const given = { what, count: Math.floor(age / DAY_MS), since };
  return [noticeOf(website, `unsynced-${since}`, { kind: 'stale', ...given })];
}

/**
 * What was wrong with a run that no snapshot shows: websites without one, damaged journals, the clock, copies that lag.
 *
 * @param startedAt ISO 8601
 */
export function noticesOf(receipt: Receipt, startedAt: string): Notice[] {
  const fact = receipt.run_id ?? startedAt;
  const problems = problemsIn(receipt).flatMap(({ kind, website_id, message }) => {
    if (kind !== 'failed' && kind !== 'damaged' && kind !== 'clock') return [];
    const website = receipt.websites.find((one) => one.website_id === website_id) ?? null;
    return [ofWebsite(website)(fact, { kind, what: message, count: 1, since: startedAt })];
  });
  const behind = receipt.followers.filter(({ behind }) => behind > 0);
  const lagging = behind.map((one) =>
    noticeOfNone(one.name, { kind: 'lagging', what: lagOf(one), count: one.behind, since: startedAt }),
  );
  return [...problems, ...lagging];
}

/** A failure of no website in particular. @param fact what it follows from, as `noticeOf` has it */
export function failureOf(fact: string, error: string): Notice {
  return noticeOfNone(fact, { kind: 'failed', what: error, count: 1, since: null });
}

/** That a file of the warehouse cannot be read; once a day. @param websiteId whose file it is, if that is known */
export function unreadableNotice(
  websiteId: string | null,
  error: string,
  { config, now }: { config: Config; now: number },
): Notice {
  const given = { kind: 'unreadable', what: `the warehouse cannot be read: ${error}`, count: 1, since: null } as const;
  const website =
    websiteId === null ? null : { website_id: websiteId, website_name: websiteOf(config, websiteId).name };
  return ofWebsite(website)(calendarDate(new Date(now), config.warehouse.time_zone), given);
}

/** A long outage. */
export function outageNotice({ of, error, since, website }: LongOutage): Notice {
  const begunAt = new Date(since).toISOString();
  const given = { kind: 'outage', what: `the run waits for ${of}: ${error}`, count: 1, since: begunAt } as const;
  return ofWebsite(website && { website_id: website.id, website_name: website.name })(begunAt, given);
}

/** That a long outage is over, if it is. */
export function outageOver(outage: LongOutage): Over[] {
  const { of, since, overAt } = outage;
  if (overAt === null) return [];
  const told = outageNotice(outage);
  const [condition, fact] = conditionOf(told);
  const { website_id, website_name } = told;
  const over = overNotice(condition, fact, { website_id: website_id ?? '*', website_name });
  const what = `the outage of ${of} is over after ${duration(overAt - since)}`;
  return [{ of: [condition, fact], notice: over && { ...over, what, since: told.since } }];
}

function ofWebsite(website: Website | null): typeof noticeOfNone {
  return website === null ? noticeOfNone : (fact, given) => noticeOf(website, fact, given);
}
