import { z } from 'zod';
import { readJson } from '../../base/storage/json-file.js';
import { warehouseFolder } from '../../warehouse/log/folder/layout.js';

/** The part of a channel's entry in the journal of notices that `status` shows. */
export const channelState = z.object({
  /** What logs call it. */
  label: z.string().default('a channel'),
  waiting: z.array(z.unknown()),
  /** Since when it accepts no messages, and why; null while it does. */
  failing: z.object({ since: z.iso.datetime(), error: z.string() }).nullable().default(null),
});

/** Notices that a channel has not accepted. The names are those of `status --json`. */
export interface WaitingNotices {
  channel: string;
  notices: number;
  /** ISO 8601; null if they were not sent yet. */
  since: string | null;
  error: string | null;
}

const channels = z.object({ channels: z.record(z.string(), channelState) });

/** What waits to be sent; nothing if the journal of notices is missing, damaged or not ours to read. */
export async function waitingNotices(warehouse: string): Promise<WaitingNotices[]> {
  const known = await readJson(warehouseFolder(warehouse).notices, channels).catch(() => null);
  return Object.values(known?.channels ?? {}).flatMap(({ label, waiting, failing }) =>
    waiting.length > 0
      ? [{ channel: label, notices: waiting.length, since: failing?.since ?? null, error: failing?.error ?? null }]
      : [],
  );
}
