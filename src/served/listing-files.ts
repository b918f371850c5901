import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Reader } from '../analysis/reader.js';
import { makeTemporary, removeTemporary } from '../storage/temporary.js';
import type { ServedCommits } from './commits.js';
import { ListingFile } from './listing-file.js';
import { listingKey, viewListing } from './views.js';

/** Listings that are kept rendered; the one that was longest not asked for goes first. */
const MAX_KEPT = 8;
/** Lines of text as they are: nothing in them needs quotes, and no line holds the delimiter. */
const LINES_FORMAT = "format csv, header false, quote '', escape '', delimiter '\x01'";

/** The listings that were asked for last, each rendered once, in a folder that goes with the process. */
export class ListingFiles {
  readonly #kept = new Map<string, Promise<ListingFile>>();
  #folder: string | null = null;
  #made = 0;

  constructor(private readonly warehouse: string) {}

  /**
   * The listing that these commits make.
   *
   * @param use hands the reader to what renders it, when it is its turn
   */
  async of(commits: ServedCommits, use: <T>(ask: (reader: Reader) => Promise<T>) => Promise<T>): Promise<ListingFile> {
    const key = listingKey(commits);
    const kept = this.#kept.get(key) ?? use((reader) => this.#render(reader, commits));
    // Deleted first, so that the map's order of insertion is the order of use.
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    kept.catch(() => this.#kept.delete(key));
    await this.#dropOldest();
    return kept;
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#kept.values()].map(async (file) => (await file).drop()));
    this.#kept.clear();
    if (this.#folder !== null) removeTemporary(this.#folder);
    this.#folder = null;
  }

  async #render(reader: Reader, commits: ServedCommits): Promise<ListingFile> {
    this.#folder ??= makeTemporary('serve');
    this.#made++;
    // DuckDB may write beside the reader only; the file outlives the reader.
    const [written, path] = [join(reader.folder, `listing-${this.#made}`), join(this.#folder, `listing-${this.#made}`)];
    await viewListing(reader, this.warehouse, commits);
    await reader.engine.copy('select line from entry_lines order by url', written, LINES_FORMAT);
    await rename(written, path);
    return ListingFile.open(path);
  }

  async #dropOldest(): Promise<void> {
    for (const [key, oldest] of this.#kept) {
      if (this.#kept.size <= MAX_KEPT) return;
      this.#kept.delete(key);
      await oldest.then((file) => file.drop()).catch(() => {});
    }
  }
}
