import pLimit, { type LimitFunction } from 'p-limit';
import { Reader, type ReaderOptions } from '../analysis/reader.js';
import { listTableFiles } from '../warehouse/layout.js';

/** How long what was seen of the warehouse is believed to be all of it. */
const LOOK_INTERVAL_MS = 1000;
/** The files whose coming or going changes what a reader sees. */
const TELLING_TABLES = ['snapshots', 'replays', 'runs', 'tombstones'] as const;

interface Opened {
  reader: Reader;
  /** What it was opened over. */
  files: string;
  /** DuckDB's questions one at a time: one connection answers one of them. */
  oneAtATime: LimitFunction;
  users: number;
  retired: boolean;
}

/**
 * A reader that keeps up with the warehouse: a question sees every commit that was there a second before it, and one
 * state of the world from its beginning to its end, whatever is committed meanwhile.
 */
export class LiveReader {
  #current: Opened | null = null;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | null = null;

  constructor(
    private readonly options: ReaderOptions,
    private readonly clock: () => number = () => performance.now(),
  ) {}

  /** Asks something of the newest state; questions of the same state take turns. */
  async use<T>(ask: (reader: Reader) => Promise<T>): Promise<T> {
    const opened = await this.#newest();
    opened.users++;
    try {
      return await opened.oneAtATime(() => ask(opened.reader));
    } finally {
      opened.users--;
      closeUnused(opened);
    }
  }

  close(): void {
    if (this.#current) retire(this.#current);
    this.#current = null;
  }

  async #newest(): Promise<Opened> {
    if (this.#current === null || this.clock() - this.#lookedAt >= LOOK_INTERVAL_MS) {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = null;
      });
      await this.#looking;
    }
    if (this.#current === null) throw new Error('the reader was closed');
    return this.#current;
  }

  async #look(): Promise<void> {
    const lookedAt = this.clock();
    const files = await this.#files();
    if (this.#current?.files !== files) {
      const opened = {
        reader: await Reader.open(this.options),
        files,
        oneAtATime: pLimit(1),
        users: 0,
        retired: false,
      };
      if (this.#current) retire(this.#current);
      this.#current = opened;
    }
    this.#lookedAt = lookedAt;
  }

  /** Listed before the reader opens: what comes in between, it sees, and the next look finds the difference. */
  async #files(): Promise<string> {
    const listed = await Promise.all(TELLING_TABLES.map((table) => listTableFiles(this.options.warehouse, table)));
    return listed.flat().join('\n');
  }
}

function retire(opened: Opened): void {
  opened.retired = true;
  closeUnused(opened);
}

function closeUnused({ reader, users, retired }: Opened): void {
  if (retired && users === 0) reader.close();
}
