import { z } from 'zod';
import { channelState } from '../../answers/status/waiting-notices.js';
import { readJson, writeJson } from '../../base/storage/json-file.js';
import { warehouseFolder } from '../../warehouse/log/folder/layout.js';
import { keyOf, labelOf, type MessageChannel } from './channels.js';
import type { Facts } from './facts.js';
import { type Notice, notice } from './notice.js';

const MOST_WAITING = 100;
const MOST_SENT = 500;

const channelJournal = channelState.extend({
  /** Not sent yet, oldest first. */
  waiting: z.array(notice),
  /** Ids of what was sent, oldest first. */
  sent: z.array(z.string()),
});

const journal = z.object({
  /** The newest snapshot of each website that the rules have examined. */
  seen: z.record(z.string(), z.string()),
  /** When a website without a finished run was first noticed, ISO 8601 by its id. */
  unsynced: z.record(z.string(), z.string()).default({}),
  channels: z.record(z.string(), channelJournal),
});
/** What was sent to which channel and what waits, in one small file in the warehouse folder. */
export type Journal = z.infer<typeof journal>;

/** The journal; an empty one if it is missing or damaged, so that notices may be sent twice. */
export async function readJournal(warehouse: string): Promise<Journal> {
  const found = await readJson(warehouseFolder(warehouse).notices, journal);
  return found ?? { seen: {}, unsynced: {}, channels: {} };
}

/** Adds to each channel's queue what it has not been sent; channels that are no longer configured are dropped. */
export function withNotices(
  { channels }: Journal,
  given: readonly MessageChannel[],
  { notices, seen, unsynced }: Facts,
): Journal {
  const each = given.map((channel) => {
    const key = keyOf(channel);
    const { waiting, sent, failing } = channels[key] ?? { waiting: [], sent: [], failing: null };
    const known = new Set([...sent, ...waiting.map(({ id }) => id)]);
    const fresh = notices.filter(({ id }) => !known.has(id));
    const label = labelOf(channel);
    return [key, { label, waiting: [...waiting, ...fresh].slice(-MOST_WAITING), sent, failing }] as const;
  });
  return { seen, unsynced, channels: Object.fromEntries(each) };
}

/** The journal after a run: a copy that does not lag any more is reported again when it does. */
export function withoutLagging(before: Journal, notices: readonly Notice[]): Journal {
  const lags = (id: string) => notices.some((one) => one.id === id);
  const each = Object.entries(before.channels).map(([key, { sent, ...channel }]) => {
    return [key, { ...channel, sent: sent.filter((id) => !id.startsWith('lagging:') || lags(id)) }] as const;
  });
  return { ...before, channels: Object.fromEntries(each) };
}

/** The journal after a channel was sent what waited for it. @param error why it did not accept that; null if it did */
export function withOutcome(before: Journal, key: string, error: string | null, now: number): Journal {
  const known = before.channels[key];
  if (!known) return before;
  const since = known.failing?.since ?? new Date(now).toISOString();
  const sent = [...known.sent, ...known.waiting.map(({ id }) => id)].slice(-MOST_SENT);
  const after = error === null ? { waiting: [], sent, failing: null } : { failing: { since, error } };
  return { ...before, channels: { ...before.channels, [key]: { ...known, ...after } } };
}

export async function writeJournal(warehouse: string, changed: Journal): Promise<void> {
  // Only its owner may read it: it holds addresses and URLs of pages.
  await writeJson(warehouseFolder(warehouse).notices, changed, 0o600);
}
