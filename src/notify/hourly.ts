import { maxAgeOf } from '../analysis/status-input.js';
import { timeOfId } from '../time.js';
import { newestFile, websitesIn } from '../warehouse/layout.js';
import { type TellOptions, tell } from './notify.js';

/**
 * Makes the daemon's hourly check, which tells what no run told: a night that nobody ran, or what a channel did not take.
 * The warehouse is read again only if something was committed since, or a website's newest snapshot may be stale by now.
 */
export function hourlyCheck(options: TellOptions): () => Promise<void> {
  let told = '';
  return async () => {
    const { newest, isFresh } = await lookAt(options);
    if (isFresh && newest === told) return;
    const channels = await tell(options);
    told = channels.every(({ error }) => error === null) ? newest : '';
  };
}

/** What the names of files alone tell. */
async function lookAt({ config, now = Date.now }: TellOptions): Promise<{ newest: string; isFresh: boolean }> {
  const { websites, warehouse } = config;
  try {
    const ids = websites === 'all' ? await websitesIn(warehouse.path) : websites.map(({ id }) => id);
    const runs = await Promise.all(ids.map((id) => newestFile(warehouse.path, 'runs', id)));
    const snapshots = await Promise.all(ids.map((id) => newestFile(warehouse.path, 'snapshots', id)));
    const oldest = Math.min(...snapshots.map((id) => (id === null ? 0 : timeOfId(id))));
    return { newest: JSON.stringify([ids, runs, snapshots]), isFresh: now() - oldest <= maxAgeOf(config) };
  } catch {
    // Whoever reads the warehouse says what is wrong with it.
    return { newest: '', isFresh: false };
  }
}
