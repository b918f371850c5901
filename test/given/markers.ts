import type { Engine } from '../../src/storage/engine.js';
import type { Marker } from '../../src/warehouse/markers.js';
import { OpenWarehouse } from '../../src/warehouse/open.js';

/** Every commit of a warehouse, oldest first. */
export async function readMarkers(engine: Engine, warehouse: string): Promise<Marker[]> {
  return (await OpenWarehouse.readWhole(engine, warehouse)).markers;
}
