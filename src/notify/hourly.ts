import { maxAgeOf } from '../analysis/status-input.js';
import { timeOfId } from '../time.js';
import { newestFile, websitesIn } from '../warehouse/layout.js';
import { keyOf } from './channels.js';
import { readJournal } from './journal.js';
import { type TellOptions, tell } from './notify.js';

/**
 * Makes the daemon's hourly check, which tells what no run told: a night that nobody ran, or what a channel did not take.
 * The warehouse is read again only if something was committed since, or a website's newest snapshot may be stale by now.
 */
export function hourlyCheck(options: TellOptions): () => Promise<void> {
  let told = '';
  return async () => {
    const { newest, isFresh, isTold } = await lookAt(options);
    if (isFresh && (isTold || newest === told)) return;
    const channels = await tell(options);
    told = channels.every(({ error }) => error === null) ? newest : '';
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
    const oldest = Math.min(...snapshots.map((id) => (id === null ? 0 : timeOfId(id))));
    return {
      newest: JSON.stringify([ids, runs, snapshots]),
      isFresh: now() - oldest <= maxAgeOf(config),
      // By the run that committed it: a later run failed.
      isTold:
        ids.every((id, at) => snapshots[at] && seen[id] === snapshots[at] && (runs[at] ?? '') <= snapshots[at]) &&
        talking.every((channel) => channels[keyOf(channel)]?.waiting.length === 0),
    };
  } catch {
    // Whoever reads the warehouse says what is wrong with it.
    return { newest: '', isFresh: false, isTold: false };
  }
}
