import { z } from 'zod';
import { channelState } from '../../answers/status/found.js';
import { readJson, writeJson } from '../../base/storage/json-file.js';
import { warehouseFolder } from '../../warehouse/log/folder/layout.js';
import { keyOf, labelOf, type MessageChannel } from './channels.js';
import type { Facts } from './facts.js';
import { leftOutText } from './message.js';
import { conditionOf, KINDS, type Notice, notice, noticeOfNone, together } from './notice.js';

/** Of a channel that accepts none, so many notices wait; older ones are only counted. */
const MOST_WAITING = 100;

const channelJournal = channelState.extend({
  /** Not sent yet, oldest first. */
  waiting: z.array(notice),
  /** How many older ones were left out, by kind. */
  left_out: z.partialRecord(z.enum(KINDS), z.int()).default({}),
  /** What the channel was told and is not over: the snapshot or run that it last followed from, by condition. */
  told: z.record(z.string(), z.string()),
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

/** Adds to each channel's queue what it has not been told; channels that are no longer configured are dropped. */
export function withNotices(
  { channels }: Journal,
  given: readonly MessageChannel[],
  { notices, seen, unsynced, over }: Facts,
): Journal {
  const each = given.map((channel) => {
    const key = keyOf(channel);
    const { waiting, failing, ...known } = channels[key] ?? { waiting: [], told: {}, left_out: {}, failing: null };
    const told = { ...known.told };
    const isTold = ([condition, fact]: [string, string]) => told[condition] === fact;
    const right = over.filter((one) => isTold(one.of));
    for (const { of } of right) delete told[of[0]];
    const fresh = notices.filter((one) => !isTold(conditionOf(one)));
    for (const one of fresh) {
      const [condition, fact] = conditionOf(one);
      told[condition] = fact;
    }
    const all = [...waiting, ...together([...fresh, ...right.flatMap(({ notice }) => notice ?? [])])];
    const left_out = { ...known.left_out };
    for (const { kind } of all.slice(0, -MOST_WAITING)) left_out[kind] = (left_out[kind] ?? 0) + 1;
    return [key, { label: labelOf(channel), waiting: all.slice(-MOST_WAITING), left_out, told, failing }] as const;
  });
  return { seen, unsynced, channels: Object.fromEntries(each) };
}

/** What a channel is sent: all that waits, and at the end how much was left out. */
export function waitingFor(journal: Journal, channel: MessageChannel): Notice[] {
  const { waiting = [], left_out = {} } = journal.channels[keyOf(channel)] ?? {};
  const kinds = KINDS.flatMap((kind) => Array.from({ length: left_out[kind] ?? 0 }, () => ({ kind })));
  if (kinds.length === 0) return waiting;
  const what = `the channel accepted no message for so long: ${leftOutText(kinds)}`;
  return [...waiting, noticeOfNone('', { kind: 'left_out', what, count: kinds.length, since: null })];
}

/** What any channel was told and is not over. */
export function toldIn({ channels }: Journal): [condition: string, fact: string][] {
  const all = Object.values(channels).flatMap(({ told }) => Object.entries(told));
  return [...new Map(all.map((one) => [one.join(':'), one])).values()];
}

/** The journal after a channel was sent what waited for it. @param error why it did not accept that; null if it did */
export function withOutcome(before: Journal, key: string, error: string | null, now: number): Journal {
  const known = before.channels[key];
  if (!known) return before;
  const since = known.failing?.since ?? new Date(now).toISOString();
  const after = error === null ? { waiting: [], left_out: {}, failing: null } : { failing: { since, error } };
  return { ...before, channels: { ...before.channels, [key]: { ...known, ...after } } };
}

export async function writeJournal(warehouse: string, changed: Journal): Promise<void> {
  // Only its owner may read it: it holds addresses and URLs of pages.
  await writeJson(warehouseFolder(warehouse).notices, changed, 0o600);
}
