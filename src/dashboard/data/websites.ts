import { z } from 'zod';
import type { Reader } from '../../analysis/reader.js';
import type { KeyDetails } from '../../contract/key.js';
import { ServiceError } from '../../service/errors.js';
import type { Website } from '../visit.js';
import { askDashboard } from './ask-dashboard.js';

const observedRow = z.object({
  website_id: z.string(),
  website_name: z.string().nullable(),
  newest_date: z.string(),
  listing_status: z.string(),
  pages: z.int(),
  indexed: z.int(),
});
export type ObservedWebsite = z.infer<typeof observedRow>;

const nameRow = z.object({ website_name: z.string().nullable() });

/** The websites that a key may read, each once: those that something was observed of, and the others. */
export async function readWebsites(
  reader: Reader,
  { websites_access }: KeyDetails,
): Promise<{ observed: ObservedWebsite[]; waiting: Website[] }> {
  const names = new Map(websites_access.map(({ _id, url }) => [_id, url]));
  const observed = await askDashboard(reader, 'websites', observedRow, { websites: [...names.keys()] });
  const known = new Set(observed.map(({ website_id }) => website_id));
  const waiting = [...names].filter(([id]) => !known.has(id)).map(([id, name]) => ({ id, name }));
  return { observed, waiting };
}

/**
 * A website by its id, for who may read it. One that is foreign is answered as one that does not exist.
 *
 * @throws ServiceError 404
 */
export async function findWebsite(reader: Reader, { websites_access }: KeyDetails, id: string): Promise<Website> {
  const granted = websites_access.find(({ _id }) => _id === id);
  if (!granted) throw new ServiceError(404, 'There is no such website, or your API key was not granted it.');
  const [row] = await askDashboard(reader, 'website_name', nameRow, { website: id });
  if (!row) throw new ServiceError(404, 'Nothing was observed of this website yet.');
  return { id, name: row.website_name ?? granted.url };
}
