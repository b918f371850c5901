import type { Reader } from '../../answers/query/reader.js';
import type { Status } from '../../answers/status/status.js';
import { LiveReader, type LiveReaderOptions } from '../store/live-reader.js';
import { runSql } from './run-sql.js';
import type { Client } from './tool.js';

export interface WholeOptions extends LiveReaderOptions {
  version: string;
  status(): Promise<Status>;
  now?: () => number;
}

/** A client that may see the whole warehouse, because the user who starts the program can read its files. */
export function wholeClient({ version, status, now = Date.now, ...options }: WholeOptions): Client & { close(): void } {
  const reader = new LiveReader({ ...options, pagesFrom: undefined });
  const { warehouse } = options;
  const ask = <T>(signal: AbortSignal, work: (reader: Reader, signal: AbortSignal) => Promise<T>) =>
    reader.ask({ keyId: 'stdio', signal }, 'slow', work);
  return {
    websites: null,
    now,
    version,
    ask,
    status,
    query: (signal, sql, window) =>
      ask(signal, (_, stopped) => runSql({ warehouse, websites: null, sql, ...window }, stopped)),
    close: () => reader.close(),
  };
}
