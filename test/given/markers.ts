import type { Engine } from '../../src/base/storage/engine.js';
import { openLog } from '../../src/warehouse/log/log.js';
import type { Marker } from '../../src/warehouse/log/markers.js';

/** Every commit of a warehouse, oldest first. */
export async function readMarkers(engine: Engine, warehouse: string): Promise<Marker[]> {
  return (await openLog(engine, warehouse, { whole: true })).markers;
}
