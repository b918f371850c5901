import type { Reader } from '../../answers/query/reader.js';
import type { StatusInput } from '../../answers/status/found.js';
import { type Status, statusForKey } from '../../answers/status/status.js';
import type { KeyDetails } from '../../source/contract/key.js';
import { readableBy } from '../api/admission.js';
import { LiveReader, type LiveReaderOptions } from '../store/live-reader.js';
import type { QuestionKind } from '../store/question-queue.js';
import type { Client } from './tool.js';

export interface WholeOptions extends LiveReaderOptions {
  version: string;
  status(): Promise<Status>;
  now?: () => number;
}

/** A client that may see the whole warehouse, because the user who starts the program can read its files. */
export function wholeClient({ version, status, now = Date.now, ...options }: WholeOptions): Client & { close(): void } {
  const reader = new LiveReader({ ...options, pagesFrom: undefined });
  return {
    websites: null,
    now,
    version,
    warehouse: options.warehouse,
    status,
    ask: (signal, kind, work) => reader.ask({ keyId: 'stdio', signal }, kind, work),
    close: () => reader.close(),
  };
}

/** Each keeps a database open. If more are needed, the one that was unused for longest is closed. */
const MOST_READERS = 4;
/** For each reader, independent of the limit of `serve`: DuckDB caches what it has read up to this limit. */
const READER_MEMORY_BYTES = 512_000_000;

/** Clients that see the websites of their key: each set of websites has a reader of its own, which sees no others. */
export class KeyClients {
  /** By set of websites; the most recently used comes last. */
  readonly #readers = new Map<string, { reader: LiveReader; users: number }>();

  constructor(private readonly options: WholeOptions & { statusInput: StatusInput }) {}

  /** @param gone aborted when the client's connection ends */
  clientOf(key: KeyDetails, gone: AbortSignal): Client {
    const { version, now = Date.now, warehouse } = this.options;
    const websites = [...new Set(readableBy(key))].sort();
    return {
      websites,
      now,
      version,
      warehouse,
      status: async () => statusForKey(await this.options.status(), websites, this.options.statusInput),
      ask: (signal, kind, work) =>
        this.#ask(websites, { keyId: key._id, signal: AbortSignal.any([signal, gone]) }, kind, work),
    };
  }

  close(): void {
    for (const { reader } of this.#readers.values()) reader.close();
    this.#readers.clear();
  }

  async #ask<T>(
    websites: readonly string[],
    context: { keyId: string; signal: AbortSignal },
    kind: QuestionKind,
    work: (reader: Reader, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const name = JSON.stringify(websites);
    const opened = this.#readers.get(name) ?? { reader: this.#open(websites), users: 0 };
    this.#readers.delete(name);
    this.#readers.set(name, opened);
    opened.users++;
    this.#closeUnused();
    try {
      return await opened.reader.ask(context, kind, work);
    } finally {
      opened.users--;
    }
  }

  #open(websites: readonly string[]): LiveReader {
    const memoryLimit = Math.min(this.options.memoryLimit, READER_MEMORY_BYTES);
    const own = { pagesFrom: undefined };
    return new LiveReader({ ...this.options, ...own, ageRule: this.options.statusInput, memoryLimit, websites });
  }

  #closeUnused(): void {
    for (const [name, { reader, users }] of this.#readers) {
      if (this.#readers.size <= MOST_READERS) return;
      if (users > 0) continue;
      this.#readers.delete(name);
      reader.close();
    }
  }
}
