import { exists } from '../storage/durable.js';
import type { Engine } from '../storage/engine.js';
import { CheckpointError, checkpointFile, stateBase } from '../warehouse/checkpoints.js';
import { type Marker, markersOf, newestMarkers } from '../warehouse/markers.js';
import { sha256Of } from '../warehouse/stage.js';
import { readTombstones } from '../warehouse/tombstones.js';
import { damaged, type Finding } from './finding.js';

/**
 * Whether each website whose older files are out of use has the state that was kept for them, and each checkpoint that
 * a tombstone names is what it was. An older one may be gone: a newer one stands for it.
 */
export async function checkCheckpoints(
  engine: Engine,
  warehouse: string,
  markers: readonly Marker[],
): Promise<Finding[]> {
  const findings: Finding[] = [];
  const sums = new Map<string, string>();
  const { tombstones } = await readTombstones(engine, warehouse);
  for (const { checkpointId, checkpointSha256 } of tombstones) {
    sums.set(checkpointId, checkpointSha256);
  }
  for (const marker of markers) {
    const expected = sums.get(marker.commitId);
    const file = checkpointFile(warehouse, marker);
    if (expected === undefined || !(await exists(file)) || (await sha256Of(file)) === expected) continue;
    findings.push(damaged(`the checkpoint ${file} was changed: its SHA-256 differs`));
  }
  for (const { websiteId } of newestMarkers(markers)) {
    findings.push(...(await withoutBase(warehouse, markersOf(markers, websiteId))));
  }
  return findings;
}

async function withoutBase(warehouse: string, markers: Marker[]): Promise<Finding[]> {
  try {
    await stateBase(warehouse, markers);
    return [];
  } catch (error) {
    if (error instanceof CheckpointError) return [damaged(error.message)];
    throw error;
  }
}
