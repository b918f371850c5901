import { z } from 'zod';
import { sql } from '../storage/sql.js';
import { QuestionError } from './errors.js';
import type { Reader } from './reader.js';

const websiteRow = z.object({ website_id: z.string(), website_name: z.string().nullable() });
type Website = z.infer<typeof websiteRow>;

/**
 * Makes sure that there is a website of this id or name, as analyses take it.
 *
 * @throws QuestionError with the websites that there are; never where the warehouse has no snapshot yet
 */
export async function checkWebsite(reader: Reader, question: string, given: string): Promise<void> {
  const { markers } = reader;
  // The markers are in memory; names are in their files.
  if (markers.length === 0 || markers.some(({ websiteId }) => websiteId === given)) return;
  reader.nextTurn();
  const websites = await reader.engine.rows(websiteRow, sql('query/websites'));
  if (websites.some(({ website_id, website_name }) => website_id === given || website_name === given)) return;
  throw new QuestionError(`${question}: ${noWebsite(given, websites)}`);
}

/** What to say of an unknown website. */
export function noWebsite(given: string, websites: readonly Website[]): string {
  return `no website "${given}" in the warehouse. It has:\n${websiteList(websites)}`;
}

/** One line for each website. */
export function websiteList(websites: readonly Website[]): string {
  return websites.map(({ website_id, website_name }) => `  ${website_id}  ${website_name ?? ''}`.trimEnd()).join('\n');
}
