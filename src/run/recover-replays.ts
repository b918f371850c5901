import { unfinishedReplays } from '../journal/folder.js';
import type { Logger } from '../observe/log.js';
import { commitStaged, dropJournal, isStagedWhole } from '../warehouse/commit.js';
import { readManifest } from '../warehouse/stage.js';

/**
 * Finishes the replays that were staged when their process died, and drops the others: what they would have committed
 * is quarantined still. To be called, with the run lock held, before anything else is committed, because a staged
 * replay was compared with the state as it was then.
 */
export async function recoverReplays(warehouse: string, log: Logger): Promise<void> {
  for (const folder of await unfinishedReplays(warehouse)) {
    const about = { website: folder.websiteId, replay: folder.runId };
    const staged = await readManifest(folder);
    try {
      const manifest = staged && (await isStagedWhole(warehouse, folder, staged)) ? staged : null;
      if (manifest) await commitStaged(warehouse, folder, manifest);
      log.info(about, manifest ? 'finished an interrupted replay' : 'dropped an interrupted replay');
    } catch (error) {
      log.error({ ...about, err: error }, 'an interrupted replay cannot be finished; the next replay starts over');
    }
    await dropJournal(folder);
  }
}
