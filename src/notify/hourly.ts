import { maxAgeOf } from '../analysis/status-input.js';
import { DAY_MS, timeOfId } from '../time.js';
import { newestFile, websitesIn } from '../warehouse/layout.js';
import { keyOf } from './channels.js';
import { readJournal } from './journal.js';
import { type TellOptions, tell } from './notify.js';

/**
 * Makes the daemon's hourly check, which tells what no run told: a night that nobody ran, or what a channel did not take.
 * The warehouse is read again only if something was committed since, or once a website's newest snapshot may be stale, and
 * then once a day: it stays as stale as it was told.
 */
export function hourlyCheck(options: TellOptions): () => Promise<void> {
  let told: string | null = null;
  return async () => {
    const { newest, isTold } = await lookAt(options);
    if (isTold || (newest !== null && newest === told)) return;
    const channels = await tell(options);
    told = channels.every(({ error }) => error === null) ? newest : null;
  };
}

/** What the names of files and the journal of notices tell. */
async function lookAt({ config, now = Date.now }: TellOptions) {
  const { websites, warehouse, notify } = config;
  try {
    const ids = websites === 'all' ? await websitesIn(warehouse.path) : websites.map(({ id }) => id);
    const runs = await Promise.all(ids.map((id) => newestFile(warehouse.path, 'runs', id)));
    const snapshots = await Promise.all(ids.map((id) => newestFile(warehouse.path, 'snapshots', id)));
    const { seen, channels } = await readJournal(warehouse.path);
    const talking = notify.channels.filter(({ type }) => type !== 'ping');
    const stale = snapshots.filter((id) => id === null || now() - timeOfId(id) > maxAgeOf(config));
    const day = stale.length > 0 ? Math.floor(now() / DAY_MS) : null;
    return {
      // Since when a website without a snapshot is waited for stands in no file's name.
      newest: snapshots.includes(null) ? null : JSON.stringify([ids, runs, snapshots, stale, day]),
      // By the run that committed it: a later run failed.
      isTold:
        stale.length === 0 &&
        ids.every((id, at) => snapshots[at] && seen[id] === snapshots[at] && (runs[at] ?? '') <= snapshots[at]) &&
        talking.every((channel) => channels[keyOf(channel)]?.waiting.length === 0),
    };
  } catch {
    // Whoever reads the warehouse says what is wrong with it.
    return { newest: null, isTold: false };
  }
}
