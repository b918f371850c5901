import { z } from 'zod';
import { readIfThere, writeDurably } from '../storage/durable.js';
import { warehouseFolder } from '../warehouse/layout.js';
import { type Notice, notice } from './notice.js';

const MOST_WAITING = 100;
const MOST_SENT = 500;

const journal = z.object({
  /** The newest snapshot of each website that the rules have looked at. */
  seen: z.record(z.string(), z.string()),
  channels: z.record(
    z.string(),
    z.object({
      /** Not sent yet, oldest first. */
      waiting: z.array(notice),
      /** Ids of what was sent, oldest first. */
      sent: z.array(z.string()),
    }),
  ),
});
/** What was sent to which channel and what waits, in one small file of the warehouse folder. */
export type Journal = z.infer<typeof journal>;

/** The journal; an empty one where there is none, or where it is damaged: then something may be told again. */
export async function readJournal(warehouse: string): Promise<Journal> {
  const text = await readIfThere(warehouseFolder(warehouse).notices);
  try {
    return journal.parse(JSON.parse(text ?? ''));
  } catch {
    return { seen: {}, channels: {} };
  }
}

/** Puts what each channel was not told yet in line; channels that are gone are forgotten. */
export function withNotices(
  { channels }: Journal,
  keys: readonly string[],
  { notices, seen }: { notices: readonly Notice[]; seen: Journal['seen'] },
): Journal {
  const each = keys.map((key) => {
    const { waiting, sent } = channels[key] ?? { waiting: [], sent: [] };
    const known = new Set([...sent, ...waiting.map(({ id }) => id)]);
    const fresh = notices.filter(({ id }) => !known.has(id));
    return [key, { waiting: [...waiting, ...fresh].slice(-MOST_WAITING), sent }] as const;
  });
  return { seen, channels: Object.fromEntries(each) };
}

/** The same after a channel has taken what waited for it. */
export function withSent(before: Journal, key: string): Journal {
  const { waiting, sent } = before.channels[key] ?? { waiting: [], sent: [] };
  const all = [...sent, ...waiting.map(({ id }) => id)].slice(-MOST_SENT);
  return { ...before, channels: { ...before.channels, [key]: { waiting: [], sent: all } } };
}

export async function writeJournal(warehouse: string, changed: Journal): Promise<void> {
  // Addresses and pages' URLs are nobody else's business.
  await writeDurably(warehouseFolder(warehouse).notices, `${JSON.stringify(changed)}\n`, 0o600);
}
