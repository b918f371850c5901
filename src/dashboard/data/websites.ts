import { z } from 'zod';
import { askRows } from '../../analysis/ask-rows.js';
import type { Reader } from '../../analysis/reader.js';
import type { KeyDetails } from '../../contract/key.js';
import { ServiceError } from '../../service/errors.js';
import type { Website } from '../context.js';
import { checkPage, pagingQuery, skipOf } from '../query.js';

export const websitesQuery = z.object(pagingQuery);
export type WebsitesQuery = z.infer<typeof websitesQuery>;

const websiteRow = z.object({
  website_id: z.string(),
  website_name: z.string().nullable(),
  /** Null before the first snapshot. */
  newest_date: z.string().nullable(),
  listing_status: z.string().nullable(),
  /** Whether there was a run. */
  is_known: z.boolean(),
  pages: z.int(),
  indexed: z.int(),
});
/** With the name that it has in its newest snapshot, or else with the key. */
export type WebsiteRow = z.infer<typeof websiteRow> & { website: Website };

const nameRow = z.object({ website_name: z.string().nullable() });

/** The websites that a key may read, each once, a window of them. @throws ServiceError 404 behind the last one */
export async function readWebsites(
  reader: Reader,
  { websites_access }: KeyDetails,
  query: WebsitesQuery,
): Promise<{ count: number; rows: WebsiteRow[] }> {
  const names = new Map(websites_access.map(({ _id, url }) => [_id, url]));
  checkPage(query, names.size);
  const window = { websites: [...names.keys()], limit: query.per, skip: skipOf(query) };
  const rows = await askRows(reader, 'dashboard/websites', websiteRow, window);
  const named = rows.map((row) => {
    const { website_id: id, website_name: name } = row;
    return { ...row, website: { id, name: name ?? names.get(id) ?? '' } };
  });
  return { count: names.size, rows: named };
}

/**
 * A website by its id, for who may read it. One that is foreign is answered as one that does not exist.
 *
 * @throws ServiceError 404
 */
export async function findWebsite(reader: Reader, { websites_access }: KeyDetails, id: string): Promise<Website> {
  const granted = websites_access.find(({ _id }) => _id === id);
  if (!granted) throw new ServiceError(404, 'There is no such website, or your API key was not granted it.');
  const [row] = await askRows(reader, 'dashboard/website_name', nameRow, { website: id });
  if (!row) throw new ServiceError(404, 'There was no run of this website yet.');
  return { id, name: row.website_name ?? granted.url };
}
