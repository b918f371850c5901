import type { Engine } from '../../src/base/storage/engine.js';
import type { Marker } from '../../src/warehouse/log/markers.js';
import { OpenWarehouse } from '../../src/warehouse/log/open.js';

/** Every commit of a warehouse, oldest first. */
export async function readMarkers(engine: Engine, warehouse: string): Promise<Marker[]> {
  return (await OpenWarehouse.readWhole(engine, warehouse)).markers;
}
