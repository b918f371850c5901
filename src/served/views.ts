import type { Reader } from '../analysis/reader.js';
import { sql } from '../storage/sql.js';
import { filesOf, type Marker } from '../warehouse/markers.js';
import { tableQuery } from '../warehouse/prepare.js';
import type { DataTable } from '../warehouse/tables.js';
import type { ServedCommits } from './commits.js';

/** Makes a temporary view of a table over the files of some commits. */
export async function viewOver(
  reader: Reader,
  name: string,
  { warehouse, table, markers }: { warehouse: string; table: DataTable; markers: readonly Marker[] },
): Promise<void> {
  await reader.engine.view(name, tableQuery(reader.folder, table, filesOf(warehouse, markers, table)));
}

/** What the views of each reader show: most requests are for the same listing as the one before. */
const shown = new WeakMap<Reader, string>();

/** Makes the view `served_listing` of what these commits list, and over it `entry_lines`. */
export async function viewListing(reader: Reader, warehouse: string, commits: ServedCommits): Promise<void> {
  const { listing, earlier } = commits;
  const key = listingKey(commits);
  if (shown.get(reader) === key) return;
  shown.delete(reader);
  await viewOver(reader, 'served_coverage', { warehouse, table: 'coverage', markers: listing });
  const isOnce = listing.length === 1 && listing.every(({ files }) => !Object.hasOwn(files, 'rejected_records'));
  if (!isOnce) {
    await viewOver(reader, 'served_rejected', { warehouse, table: 'rejected_records', markers: listing });
    await viewOver(reader, 'earlier_coverage', { warehouse, table: 'coverage', markers: earlier });
  }
  await reader.engine.run(sql(isOnce ? 'serve/listed_once' : 'serve/listed'));
  await reader.engine.run(sql('serve/entry_lines'));
  shown.set(reader, key);
}

/** The same for the same listing, whatever was committed since. */
export function listingKey({ listing, earlier }: ServedCommits): string {
  return [...listing, ...earlier.slice(-1)].map(({ commitId }) => commitId).join(' ');
}
