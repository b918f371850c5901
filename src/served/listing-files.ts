import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Reader } from '../analysis/reader.js';
import { makeTemporary, removeTemporary } from '../storage/temporary.js';
import type { ServedCommits } from './commits.js';
import { LastAsked } from './last-asked.js';
import { ListingFile } from './listing-file.js';
import { listingKey, viewListing } from './views.js';

/** Listings that are kept rendered. */
const MAX_KEPT = 8;
/** Lines of text as they are: nothing in them needs quotes, and no line holds the delimiter. */
const LINES_FORMAT = "format csv, header false, quote '', escape '', delimiter '\x01'";

/** The listings that were asked for last, each rendered once, in a folder that goes with the process. */
export class ListingFiles {
  readonly #kept = new LastAsked<ListingFile>(MAX_KEPT, (file) => file.drop());
  #folder: string | null = null;
  #made = 0;

  /** @param ask hands the reader to what renders a listing, when it is its turn */
  constructor(
    private readonly warehouse: string,
    private readonly ask: <T>(question: (reader: Reader) => Promise<T>) => Promise<T>,
  ) {}

  /** Hands the listing that these commits make to `work`, which may read it until it returns. */
  use<T>(commits: ServedCommits, work: (file: ListingFile) => Promise<T>): Promise<T> {
    return this.#kept.use(listingKey(commits), () => this.ask((reader) => this.#render(reader, commits)), work);
  }

  async close(): Promise<void> {
    await this.#kept.close();
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
}
