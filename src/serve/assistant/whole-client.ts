import type { Status } from '../../answers/status/status.js';
import { LiveReader, type LiveReaderOptions } from '../store/live-reader.js';
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
    ask: (signal, work) => reader.ask({ keyId: 'stdio', signal }, 'slow', work),
    close: () => reader.close(),
  };
}
