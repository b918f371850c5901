import { existsSync, rmSync } from 'node:fs';
import { type Engine, withEngine } from '../src/base/storage/engine.js';
import { stageCommit } from '../src/sync/stage/stage.js';
import { commitStaged } from '../src/warehouse/log/commit.js';
import { scratchFolder, tableFile } from '../src/warehouse/log/folder/layout.js';
import { prepareWarehouse } from '../src/warehouse/log/folder/prepare.js';
import { print } from './figures.js';
import {
  engineOptions,
  type GeneratedNights,
  MEMORY_LIMIT,
  makeNight,
  makePages,
  stageInput,
  viewNight,
} from './generated-nights.js';

const NIGHTS_TOLD = 30;

/**
 * Makes a warehouse of so many nights with the project's own staging and commit; only the journals are left out. Nights
 * that are there already are kept.
 */
export async function generateHistory(history: GeneratedNights): Promise<void> {
  const { warehouse, nights } = history;
  const begun = performance.now();
  await prepareWarehouse(warehouse, 'UTC', MEMORY_LIMIT);
  await withEngine(engineOptions(scratchFolder(warehouse)), async (engine) => {
    await makePages(engine, history);
    for (let night = 0; night < nights; night++) {
      if (existsSync(markerOf(history, night))) continue;
      await commitNight(engine, history, night);
      if ((night + 1) % NIGHTS_TOLD === 0) print(`  ${night + 1} nights, ${seconds(begun)} s`);
    }
  });
}

async function commitNight(engine: Engine, history: GeneratedNights, night: number): Promise<void> {
  const input = stageInput(history, night);
  await makeNight(engine, night);
  await viewNight(engine);
  await commitStaged(history.warehouse, input.folder, await stageCommit(engine, input));
  // It would be kept for an hour, and so the state of every night.
  if (input.previousState) rmSync(input.previousState);
}

function markerOf(history: GeneratedNights, night: number): string {
  const { snapshotId: id, websiteId, date } = stageInput(history, night).facts;
  return tableFile(history.warehouse, 'snapshots', { websiteId, date, id });
}

function seconds(begun: number): string {
  return ((performance.now() - begun) / 1000).toFixed(0);
}
