import { maxAgeOf } from '../../answers/status/status-input.js';
import { DAY_MS, timeOfId } from '../../base/time.js';
import { newestFile, websitesIn } from '../../warehouse/log/folder/layout.js';
import { keyOf } from './channels.js';
import { readJournal } from './journal.js';
import { type NotifyOptions, sendNotices } from './notify.js';

/**
 * Makes the daemon's hourly check, which reports what no run could: that there was none, or what a channel did not
 * accept. It reads the warehouse only after a commit, or, once a website's newest snapshot may be stale, once a day.
 */
export function hourlyCheck(options: NotifyOptions): () => Promise<void> {
  let checked: string | null = null;
  return async () => {
    const { newest, isReported } = await lookAt(options);
    if (isReported || (newest !== null && newest === checked)) return;
    const channels = await sendNotices(options);
    checked = channels.every(({ error }) => error === null) ? newest : null;
  };
}

/** What the names of files and the journal of notices show. */
async function lookAt({ config, now = Date.now }: NotifyOptions) {
  const { websites, warehouse, notify } = config;
  try {
    const ids = Array.isArray(websites) ? websites.map(({ id }) => id) : await websitesIn(warehouse.path);
    const runs = await Promise.all(ids.map((id) => newestFile(warehouse.path, 'runs', id)));
    const snapshots = await Promise.all(ids.map((id) => newestFile(warehouse.path, 'snapshots', id)));
    const { seen, channels } = await readJournal(warehouse.path);
    const messageChannels = notify.channels.filter(({ type }) => type !== 'ping');
    const stale = snapshots.filter((id) => id === null || now() - timeOfId(id) > maxAgeOf(config));
    const day = stale.length > 0 ? Math.floor(now() / DAY_MS) : null;
    return {
      // File names do not show for how long a website has had no snapshot.
      newest: snapshots.includes(null) ? null : JSON.stringify([ids, runs, snapshots, stale, day]),
      // A run that is newer than the newest snapshot has failed.
      isReported:
        stale.length === 0 &&
        ids.every((id, at) => snapshots[at] && seen[id] === snapshots[at] && (runs[at] ?? '') <= snapshots[at]) &&
        messageChannels.every((channel) => channels[keyOf(channel)]?.waiting.length === 0),
    };
  } catch {
    // Reading the warehouse will report what is wrong with it.
    return { newest: null, isReported: false };
  }
}
