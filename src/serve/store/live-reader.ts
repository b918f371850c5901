import { type Newest, Reader } from '../../answers/query/reader.js';
import type { ReaderOptions } from '../../answers/query/reader-options.js';
import { type DataAge, dataAgeOf } from '../../answers/status/data-age.js';
import { exists, stampOf } from '../../base/storage/durable.js';
import { EngineError, MemoryError } from '../../base/storage/engine.js';
import { type DamagedFile, DamageError } from '../../warehouse/log/folder/damage.js';
import { listTableFiles, websiteOf } from '../../warehouse/log/folder/layout.js';
import type { Marker } from '../../warehouse/log/markers.js';
import { ServiceError } from '../api/errors.js';
import type { RequestContext } from '../api/store.js';
import { type QuestionKind, QuestionQueue } from './question-queue.js';

/** DuckDB's names for errors that are the fault of a file or the disk, not of the statement. */
const OF_A_FILE = /\b(IO|Invalid|Invalid Input|Serialization|Corrupt\w*|Not implemented) Error\b/i;
/** The file that DuckDB's message is about. */
const FILE = /["']([^"']+\.parquet)["']/;
const MISSING = /No files found|No such file|does not exist/i;

/** This answer needs a file that cannot be read; other answers do not. */
export class UnreadableError extends ServiceError {
  constructor(
    /** Whether the file is missing: deleted after its retention, or lost. */
    readonly isMissing: boolean,
    /** What was wrong: for the log, never for a client. */
    readonly reason: string,
    /** Its path; several if it is one of them, none if it is unknown. Also only for the log. */
    readonly files: readonly string[],
  ) {
    super(503, 'Some of the data for this answer cannot be read.', { 'retry-after': '60' });
  }
}

/** What a client gets for an engine's error about memory or a file; any other error is returned as it is. */
export function explained(error: unknown): unknown {
  if (error instanceof DamageError) {
    const { damaged, message } = error;
    const isMissing = damaged.every(({ reason }) => reason === 'is missing');
    const paths = damaged.map(({ path }) => path);
    return new UnreadableError(isMissing, message, paths);
  }
  if (!(error instanceof EngineError)) return error;
  const { message } = error;
  if (error instanceof MemoryError) {
    return new ServiceError(503, 'This answer needs more memory than is available now.', { 'retry-after': '5' });
  }
  return OF_A_FILE.test(message) ? new UnreadableError(MISSING.test(message), message, filesBehind(error)) : error;
}

function filesBehind({ message, parameters }: EngineError): string[] {
  const named = FILE.exec(message)?.[1];
  if (named !== undefined) return [named];
  const read = Object.values(parameters).filter((value) => Array.isArray(value));
  return read.flat().filter((file) => file.includes('/parquet/') && file.endsWith('.parquet'));
}

/** How long to wait before looking for new files again, and at least how many times as long as the last look took. */
const LOOK_INTERVAL_MS = 1000;
const LOOK_INTERVAL_TIMES = 10;
/** Tables whose files change what a reader sees when they appear or disappear. */
const WATCHED_TABLES = ['snapshots', 'runs', 'note_log', 'tombstones'] as const;

export interface LiveReaderOptions extends ReaderOptions {
  /** Where its questions wait with those of other readers. Left out: one of its own. */
  queue?: QuestionQueue;
  /** Called once for each file that cannot be read, with what is wrong with it. */
  onUnreadable?: (file: string, reason: string) => void;
}

export type ServedWebsite = Pick<Newest, 'id' | 'name'> & Partial<Newest>;

/** Files of which one cannot be read, and their stamps at that time, because it may be repaired in place. */
interface Unreadable {
  files: readonly string[];
  stamps: Promise<string>;
}

/** One state of the warehouse, and its idle connections. */
interface Opened {
  reader: Reader;
  newest: Newest[];
  /** The files that it was opened over. */
  files: string;
  idle: Reader[];
  users: number;
  retired: boolean;
}

/**
 * A warehouse that is read while it grows. A question sees every commit that was there a second before it, and the same
 * state from start to end, whatever is committed meanwhile. Questions run side by side, each on a connection of its own
 * to one database.
 */
export class LiveReader {
  readonly #queue: QuestionQueue;
  readonly #unreadable = new Map<string, Unreadable>();
  #current: Opened | null = null;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #intervalMs = LOOK_INTERVAL_MS;
  #looking: Promise<void> | null = null;

  constructor(
    private readonly options: LiveReaderOptions,
    private readonly clock: () => number = () => performance.now(),
  ) {
    this.#queue = options.queue ?? new QuestionQueue();
  }

  /** Every commit, oldest first; from memory, so without waiting for other questions. */
  async markers(): Promise<readonly Marker[]> {
    return (await this.#newest()).reader.markers;
  }

  /** The commits of a website, oldest first; also from memory. @throws UnreadableError if a marker cannot be read */
  async markersOf(websiteId: string): Promise<Marker[]> {
    const { reader } = await this.#newest();
    try {
      return reader.markersOf(websiteId);
    } catch (error) {
      throw explained(error);
    }
  }

  /** The websites that have a snapshot; also from memory. */
  async websites(): Promise<readonly ServedWebsite[]> {
    return (await this.#newest()).newest;
  }

  /** How old the data of these websites is now; also from memory, unless it is too old. */
  async dataAge(websiteIds: readonly string[], now: number): Promise<DataAge | null> {
    const { reader, newest } = await this.#newest();
    const asked = newest.filter(({ id }) => websiteIds.includes(id));
    return dataAgeOf(reader, asked, now);
  }

  /**
   * Asks a question of the newest state. Throws like `QuestionQueue.run`; whatever `ask` waits for is interrupted once
   * the client is gone.
   */
  async ask<T>(
    context: RequestContext,
    kind: QuestionKind,
    ask: (reader: Reader, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    return this.#queue.run(context, kind, async (signal) => {
      const opened = await this.#newest();
      opened.users++;
      try {
        const reader = opened.idle.pop() ?? (await opened.reader.connect());
        let isWhole = false;
        try {
          const answer = await reader.engine.until(signal, () => ask(reader, signal));
          isWhole = !signal.aborted;
          return answer;
        } catch (error) {
          const meant = explained(error);
          if (meant instanceof UnreadableError) this.#note(meant.files, meant.reason);
          throw meant;
        } finally {
          // A question that failed or was left may have changed only some of what the connection reads.
          if (isWhole) opened.idle.push(reader);
          else reader.close();
        }
      } finally {
        opened.users--;
        closeUnused(opened);
      }
    });
  }

  /** How many files of some websites, or of all, cannot be read: those seen at a look, and those found while answering. */
  unreadable(isAsked = (_websiteId: string): boolean => true): number {
    const all = [...this.#unreadable.values()];
    return all.filter(({ files }) => files.length === 0 || files.some((file) => isAsked(websiteOf(file)))).length;
  }

  /** With a queue of others no question may be left. */
  close(): void {
    if (!this.options.queue) this.#queue.interrupt();
    if (this.#current) retire(this.#current);
    this.#current = null;
  }

  /** Reports each file once, until it changes. */
  #note(files: readonly string[], reason: string): void {
    const name = files.join(', ') || reason;
    if (this.#unreadable.has(name)) return;
    this.#unreadable.set(name, { files, stamps: stampsOf(files) });
    this.options.onUnreadable?.(name, reason);
  }

  /** The unreadable files that have changed since. */
  async #changed(): Promise<string[]> {
    const changed: string[] = [];
    for (const [name, { files, stamps }] of this.#unreadable) {
      if ((await stamps) !== (await stampsOf(files))) changed.push(name);
    }
    return changed;
  }

  /** A file that no commit names any more is not unreadable, even if a question found it gone. */
  async #forgetRemoved(torn: readonly DamagedFile[]): Promise<void> {
    for (const [name, { files }] of this.#unreadable) {
      const there = await Promise.all(files.map((file) => torn.some(({ path }) => path === file) || exists(file)));
      if (files.length > 0 && !there.includes(true)) this.#unreadable.delete(name);
    }
  }

  async #newest(): Promise<Opened> {
    if (this.#current === null || this.clock() - this.#lookedAt >= this.#intervalMs) {
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
    this.#intervalMs = Math.max(LOOK_INTERVAL_MS, LOOK_INTERVAL_TIMES * (this.clock() - lookedAt));
    const changed = await this.#changed();
    if (this.#current === null || this.#current.files !== files || changed.length > 0) {
      const reader = await Reader.open(this.options);
      await reader.loadMarkers();
      const torn = await reader.findTorn();
      const opened = { reader, newest: await reader.newest(null), files, idle: [], users: 0, retired: false };
      for (const name of changed) this.#unreadable.delete(name);
      if (this.#current) retire(this.#current);
      this.#current = opened;
      await this.#forgetRemoved(torn);
      for (const { path, reason } of torn) this.#note([path], reason);
    }
    this.#lookedAt = lookedAt;
  }

  /** Listed before the reader opens: it sees what comes in between, and the next look finds the difference. */
  async #files(): Promise<string> {
    const { warehouse, websites = [undefined] } = this.options;
    const asked = websites.flatMap((websiteId) => WATCHED_TABLES.map((table) => ({ table, websiteId })));
    const listed = await Promise.all(
      asked.map(({ table, websiteId }) => listTableFiles(warehouse, table, { websiteId })),
    );
    return listed.flat().join('\n');
  }
}

async function stampsOf(files: readonly string[]): Promise<string> {
  return (await Promise.all(files.map(stampOf))).join();
}

function retire(opened: Opened): void {
  opened.retired = true;
  closeUnused(opened);
}

function closeUnused({ reader, idle, users, retired }: Opened): void {
  if (!retired || users > 0) return;
  for (const connection of idle) connection.close();
  reader.close();
}
