import { shortened } from '../../answers/html/html.js';
import { askOf } from '../../answers/query/ask-rows.js';
import { type Reader, withReader } from '../../answers/query/reader.js';
import { trendRow } from '../../answers/report/rows.js';
import { maxAgeOf } from '../../answers/status/status-input.js';
import type { Channel } from '../../base/config/notify.js';
import type { Config } from '../../base/config/schema.js';
import { secretsOf } from '../../base/config/websites.js';
import { BusyError, messageOf, Stopped } from '../../base/exit.js';
import type { Logger } from '../../base/observe/log.js';
import { masker } from '../../base/observe/masker.js';
import { exists } from '../../base/storage/durable.js';
import { waitingForLock } from '../../base/storage/locks.js';
import { calendarDate, DAY_MS, MINUTE_MS } from '../../base/time.js';
import type { LongOutage } from '../../sync/outage.js';
import { type Receipt, runExitCode } from '../../sync/receipt.js';
import { DamageError } from '../../warehouse/log/folder/damage.js';
import { warehouseFolder, websitesIn } from '../../warehouse/log/folder/layout.js';
import { RunLock } from '../../warehouse/log/lock.js';
import { keyOf, labelOf, type MessageChannel, type Ping, ping, type RunEvent, send } from './channels.js';
import { type Facts, failureOf, noticesOf, outageNotice, outageOver, readFacts, unreadableNotice } from './facts.js';
import { type Journal, readJournal, toldIn, waitingFor, withNotices, withOutcome, writeJournal } from './journal.js';
import { newMessage, type Trend } from './message.js';
import { exampleNotices, type Notice } from './notice.js';
import type { Over } from './over.js';

const LOCK_WAIT = { withinMs: MINUTE_MS, everyMs: 200 };
const TREND_DAYS = 14;
const TRENDS = 5;
const MOST_CHARACTERS = 2000;

export interface NotifyOptions {
  config: Config;
  logger: Logger;
  /** Milliseconds since 1970. */
  now?: () => number;
}

/** How sending to one channel went, under the names of `notify --json`. */
export interface Sent {
  channel: string;
  type: Channel['type'];
  /** How many notices were sent, or could not be; 0 for a ping. */
  notices: number;
  /** Why that failed; null if it worked. */
  error: string | null;
}

/**
 * Runs a sync between the pings of a dead man's switch, and then, once the run lock is free again, sends notices to the
 * channels. None of this can fail or delay the run: a channel that is down causes a warning in the log.
 *
 * @param isNight false for a run that is not the nightly one: it must not ping a dead man's switch
 */
export async function notifiedRun(
  { isNight = true, ...options }: NotifyOptions & { isNight?: boolean },
  run: (onLongOutage: (outage: LongOutage) => Promise<void>) => Promise<Receipt>,
): Promise<Receipt> {
  const { now = Date.now } = options;
  const startedAt = new Date(now()).toISOString();
  const pinged = (event: RunEvent) => (isNight ? pingAll(options, event) : undefined);
  const started = pinged('start');
  const ended = async (exitCode: number, notices: Notice[]) => {
    await started;
    const event = exitCode === 0 ? 'success' : 'fail';
    await Promise.all([pinged(event), sendNotices({ ...options, hasEnded: true, notices })]);
  };
  const onLongOutage = async (outage: LongOutage) => {
    const over = outageOver(outage);
    await sendNotices({ ...options, over, notices: over.length > 0 ? [] : [outageNotice(outage)] });
  };
  try {
    const receipt = await run(onLongOutage);
    const exitCode = runExitCode(receipt);
    await ended(exitCode, noticesOf(receipt, startedAt));
    return receipt;
  } catch (error) {
    // Another process is running, or this run was stopped and will be resumed.
    if (!(error instanceof BusyError || error instanceof Stopped))
      await ended(1, [failureOf(startedAt, messageOf(error))]);
    throw error;
  }
}

async function pingAll({ config, logger }: NotifyOptions, event: RunEvent): Promise<void> {
  const pings = config.notify.channels.filter((channel): channel is Ping => channel.type === 'ping');
  await Promise.all(
    pings.map((channel) =>
      ping(channel, event).catch((error) =>
        logger.warn({ channel: labelOf(channel), event }, `a ping failed: ${messageOf(error)}`),
      ),
    ),
  );
}

/**
 * Sends each channel, in one message, the notices that it has not been sent yet. Never throws: a failure causes a
 * warning in the log, and the notices are sent again next time.
 *
 * @param notices of a run, beside those that the warehouse gives
 * @param over what the run found right again
 * @param hasEnded whether the run has ended: then whatever they do not name is right again
 */
export async function sendNotices(
  options: NotifyOptions & { notices?: Notice[]; over?: Over[]; hasEnded?: boolean },
): Promise<Sent[]> {
  const { config, logger, notices = [] } = options;
  const channels = config.notify.channels.filter((channel): channel is MessageChannel => channel.type !== 'ping');
  if (channels.length === 0) return [];
  const { path } = config.warehouse;
  try {
    // A daemon may be started before the first night.
    if (notices.length === 0 && !(await exists(warehouseFolder(path).identity))) return [];
    const lock = await waitingForLock(() => RunLock.take(path, 'notify', warehouseFolder(path).noticesLock), LOCK_WAIT);
    try {
      return await sendUnderLock({ ...options, channels, notices });
    } finally {
      lock.release();
    }
  } catch (error) {
    const reason = `cannot record in the warehouse what is sent: ${messageOf(error)}`;
    logger.warn(reason);
    // A full disk should still be reported. Only what this run found is, because nothing would keep the next check from
    // repeating others.
    const own = wanted(notices, config);
    if (own.length > 0) return Promise.all(channels.map((channel) => sendTo(channel, own, [], options)));
    return channels.map((channel) => ({ channel: labelOf(channel), type: channel.type, notices: 0, error: reason }));
  }
}

type Sending = Parameters<typeof sendNotices>[0] & { channels: MessageChannel[]; notices: Notice[] };

async function sendUnderLock(options: Sending): Promise<Sent[]> {
  const { config, channels, now = Date.now } = options;
  const { path } = config.warehouse;
  const before = await readJournal(path);
  const { trends, ...facts } = await findOut(options, before);
  const notices = wanted(facts.notices, config);
  const mask = masker(secretsOf(config));
  const silent = config.notify.except.includes('over') ? { notice: null } : {};
  const over = [...facts.over, ...(options.over ?? [])].map((one) => ({ ...one, ...silent }));
  let journal = withNotices(before, channels, { ...facts, notices, over });
  // Before anything is sent, so that after a kill the next process sends it.
  if (JSON.stringify(journal) !== JSON.stringify(before)) await writeJournal(path, journal);
  const asked = channels.filter((channel) => waitingFor(journal, channel).length > 0);
  const waiting = asked.map((channel) => [channel, waitingFor(journal, channel)] as const);
  const sent = await Promise.all(waiting.map(([channel, notices]) => sendTo(channel, notices, trends, options)));
  const recorded = JSON.stringify(journal);
  for (const [at, channel] of asked.entries()) {
    const error = sent[at]?.error ?? null;
    journal = withOutcome(journal, keyOf(channel), error && mask(error), now());
  }
  if (JSON.stringify(journal) !== recorded) {
    await writeJournal(path, journal).catch((error) =>
      options.logger.warn({ err: messageOf(error) }, 'cannot record what was sent, so it may be sent again'),
    );
  }
  return sent;
}

/** @param unreadable ids of websites to leave out, because their files are damaged */
async function findOut(
  sending: Sending,
  journal: Journal,
  unreadable: readonly string[] = [],
): Promise<Facts & { trends: Trend[] }> {
  const { config, logger, now = Date.now, notices: own, channels, hasEnded } = sending;
  const { seen, unsynced, channels: known } = journal;
  const { path: warehouse, memory_limit: memoryLimit } = config.warehouse;
  const isReadable = (id: string) => !unreadable.includes(id);
  try {
    const websites = unreadable.length > 0 ? (await websitesIn(warehouse)).filter(isReadable) : undefined;
    const asked = Array.isArray(config.websites) ? config.websites.filter(({ id }) => isReadable(id)) : config.websites;
    return await withReader({ warehouse, memoryLimit, websites }, async (reader) => {
      await reader.loadMarkers();
      // Without all websites, nothing is known about the warehouse as a whole.
      const isKnown = ([condition]: readonly string[]) => websites === undefined || !condition?.includes(':*');
      const told = { told: toldIn(journal).filter(isKnown), ofRun: hasEnded ? own : null };
      const given = { config: { ...config, websites: asked }, seen, unsynced, maxAge: maxAgeOf(config), now: now() };
      const facts = await readFacts(reader, { ...given, ...told });
      const recorded = new Set(facts.notices.map(({ id }) => id));
      const notices = [...facts.notices, ...own.filter(({ id }) => !recorded.has(id))];
      const mails = channels.filter(({ type }) => type === 'email');
      const waiting = mails.flatMap((mail) => known[keyOf(mail)]?.waiting ?? []);
      const trends = mails.length > 0 ? await readTrends(reader, [...notices, ...waiting], now()) : [];
      return { ...facts, notices, trends };
    });
  } catch (error) {
    logger.warn({ err: messageOf(error) }, 'cannot read the warehouse to check for problems');
    const damaged = error instanceof DamageError ? error.damaged.map(({ websiteId }) => websiteId) : [];
    const given = { config, now: now() };
    const notices = [unreadableNotice(damaged[0] ?? null, messageOf(error), given)];
    if (damaged.length === 0 || !damaged.every(isReadable)) {
      return { notices: [...own, ...notices], over: [], seen, unsynced, trends: [] };
    }
    const others = await findOut(sending, journal, [...unreadable, ...damaged]);
    return { ...others, notices: [...others.notices, ...notices] };
  }
}

async function readTrends(reader: Reader, notices: readonly Notice[], now: number): Promise<Trend[]> {
  const names = new Map(
    notices.map(({ website_id, website_name }) => [website_id, website_name ?? website_id] as const),
  );
  const since = calendarDate(new Date(now - TREND_DAYS * DAY_MS), reader.timeZone);
  const trends: Trend[] = [];
  for (const [id, name] of [...names].slice(0, TRENDS)) {
    // A website whose first run failed has no listing.
    if (id === null || name === null || !reader.markers.some(({ websiteId }) => websiteId === id)) continue;
    trends.push({ website: name, rows: await askOf(reader, 'indexing_trend', trendRow, id, { since }) });
  }
  return trends.filter(({ rows }) => rows.length > 0);
}

async function sendTo(
  channel: MessageChannel,
  notices: Notice[],
  trends: Trend[],
  { logger, now = Date.now }: NotifyOptions,
): Promise<Sent> {
  const about = { channel: labelOf(channel), type: channel.type, notices: notices.length };
  try {
    await send(channel, newMessage(notices, trends, now()));
    logger.info(about, 'sent notices');
    return { ...about, error: null };
  } catch (error) {
    logger.warn(about, `a channel did not accept its notices, which are sent again next time: ${messageOf(error)}`);
    return { ...about, error: messageOf(error) };
  }
}

/** The notices that are to be sent, without secrets. */
function wanted(notices: readonly Notice[], config: Config): Notice[] {
  const except: readonly string[] = config.notify.except;
  const mask = masker(secretsOf(config));
  return notices.filter(({ kind }) => !except.includes(kind)).map((notice) => masked(notice, mask));
}

/** A notice without secrets, cut to a length that keeps the journal small. */
function masked(notice: Notice, mask: (text: string) => string): Notice {
  const cut = (text: string) => shortened(mask(text), MOST_CHARACTERS);
  const orNull = (text: string | null) => (text === null ? null : cut(text));
  return {
    ...notice,
    website_name: orNull(notice.website_name),
    what: cut(notice.what),
    directory: orNull(notice.directory),
    state: orNull(notice.state),
    examples: notice.examples.map(cut),
    command: mask(notice.command),
  };
}

/** Sends an example of each kind of notice to each channel, and each ping, without recording it. */
export async function sendExamples(options: NotifyOptions): Promise<Sent[]> {
  const { config, now = Date.now } = options;
  const notices = exampleNotices(now());
  return Promise.all(
    config.notify.channels.map(async (channel) => {
      if (channel.type !== 'ping') return sendTo(channel, notices, [], options);
      const about = { channel: labelOf(channel), type: channel.type, notices: 0 };
      try {
        // `success` last, so that the switch is left in a good state.
        for (const event of ['start', 'fail', 'success'] as const) await ping(channel, event);
        return { ...about, error: null };
      } catch (error) {
        return { ...about, error: messageOf(error) };
      }
    }),
  );
}
