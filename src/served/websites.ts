import { z } from 'zod';
import type { Reader } from '../analysis/reader.js';
import { sql } from '../storage/sql.js';
import { markerPaths, newestMarkers } from '../warehouse/markers.js';
import { tableQuery } from '../warehouse/prepare.js';

export interface ServedWebsite {
  id: string;
  /** As the configuration called it when its newest snapshot was made; else its id. */
  name: string;
}

const websiteRow = z.object({ id: z.string(), name: z.string() });

/** What was told of each reader: it never changes. */
const told = new WeakMap<Reader, ServedWebsite[]>();

/** The websites that have a snapshot, by their ids. */
export async function websitesOf(reader: Reader): Promise<ServedWebsite[]> {
  const known = told.get(reader);
  if (known) return known;
  const newest = newestMarkers(reader.markers.filter(({ kind }) => kind === 'snapshot'));
  const paths = markerPaths(newest, 'snapshots');
  await reader.engine.view('served_markers', tableQuery(reader.folder, 'snapshots', paths));
  const websites = await reader.engine.rows(websiteRow, sql('serve/websites'));
  told.set(reader, websites);
  return websites;
}
