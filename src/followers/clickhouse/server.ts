import { open } from 'node:fs/promises';
import { ClickHouseError, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { z } from 'zod';
import type { ClickhouseConfig } from '../../config/clickhouse.js';
import { UnreachableError } from '../../exit.js';
import { masker } from '../../observe/log.js';
import { codeOf } from '../../storage/durable.js';
import { identifier } from '../../storage/sql.js';
import { MINUTE_MS, SECOND_MS } from '../../time.js';
import { firstLine } from '../../warehouse/damage.js';

/**
 * How long the server may stay silent: during a query that somebody may be waiting for, and during a statement that
 * writes.
 */
const QUESTION_MS = 10 * SECOND_MS;
const WRITE_MS = 10 * MINUTE_MS;
const LONGEST_MESSAGE = 300;

/**
 * Inserts are synchronous and complete, so the answer to a statement is its final result. There is no deduplication,
 * because a server that replicates its tables would mistake rows that were deleted and inserted again for rows that it
 * already has.
 */
const SETTINGS = {
  async_insert: 0,
  insert_deduplicate: 0,
  lightweight_deletes_sync: '2',
  mutations_sync: '2',
  wait_end_of_query: 1,
} as const;

/** Errors that every further statement would run into as well, so that no other commit needs to be tried. */
const REFUSED = new Map([
  ['AUTHENTICATION_FAILED', 'check clickhouse.user and clickhouse.password'],
  ['REQUIRED_PASSWORD', 'set clickhouse.password'],
  ['WRONG_PASSWORD', 'check clickhouse.password'],
  ['UNKNOWN_USER', 'check clickhouse.user'],
  ['IP_ADDRESS_NOT_ALLOWED', 'let the server accept this machine'],
  ['ACCESS_DENIED', 'grant the user CREATE, ALTER, SELECT, INSERT and DELETE in that database'],
  ['READONLY', 'use a user that may write'],
  ['TABLE_IS_READ_ONLY', 'see why the server has made it read-only'],
  ['NOT_ENOUGH_SPACE', 'free disk space on the server'],
  ['QUOTA_EXCEEDED', 'raise the quota of the user'],
  ['TOO_MANY_PARTS', 'the server is still merging; the next sync goes on'],
  ['TOO_MANY_SIMULTANEOUS_QUERIES', 'the server is busy; the next sync goes on'],
  ['MEMORY_LIMIT_EXCEEDED', 'give the server more memory'],
]);
const MISSING: readonly (string | undefined)[] = ['UNKNOWN_TABLE', 'UNKNOWN_DATABASE'];

/** Values that are bound to `{name:Type}` in a statement. */
export type Bound = Readonly<Record<string, string | readonly string[]>>;

/** The database of the configuration on its server. Each statement has its own connection, so nothing stays open. */
export class ClickhouseServer {
  readonly #url: string;
  readonly #database: string;
  readonly #mask: (text: string) => string;
  readonly #connect: (timeout: number, database?: string) => ReturnType<typeof createClient>;

  constructor(config: ClickhouseConfig) {
    const { url, database, user, password = '' } = config;
    this.#url = url;
    this.#database = database;
    this.#mask = masker([password, Buffer.from(`${user}:${password}`).toString('base64')]);
    this.#connect = (timeout, inside = database) =>
      createClient({
        url,
        username: user,
        password,
        database: inside,
        request_timeout: timeout,
        application: 'indexhouse',
        clickhouse_settings: SETTINGS,
        keep_alive: { enabled: false },
        log: { level: ClickHouseLogLevel.OFF },
      });
  }

  /** @throws UnreachableError, or an Error that says why this one statement failed */
  async rows<T>(row: z.ZodType<T>, query: string, query_params: Bound = {}): Promise<T[]> {
    return this.#told(async () => {
      const result = await this.#connect(QUESTION_MS).query({ query, query_params, format: 'JSON' });
      return z.object({ data: z.array(row) }).parse(await result.json()).data;
    });
  }

  /** Like `rows`, but returns none if a table does not exist yet. */
  async rowsIfThere<T>(row: z.ZodType<T>, query: string): Promise<T[]> {
    try {
      return await this.rows(row, query);
    } catch (error) {
      if (error instanceof Error && isMissing(error.cause)) return [];
      throw error;
    }
  }

  async run(query: string, query_params: Bound = {}): Promise<void> {
    await this.#told(() => this.#connect(WRITE_MS).command({ query, query_params }));
  }

  async createDatabase(): Promise<void> {
    const query = `create database if not exists ${identifier(this.#database)}`;
    await this.#told(() => this.#connect(QUESTION_MS, 'default').command({ query }));
  }

  /** Inserts a Parquet file; its columns are matched by name. */
  async insertFile(table: string, path: string): Promise<void> {
    const file = await open(path);
    try {
      const values = file.createReadStream({ autoClose: false });
      const insert = { table: identifier(table), values, format: 'Parquet' } as const;
      await this.#told(() => this.#connect(WRITE_MS).insert(insert));
    } finally {
      await file.close();
    }
  }

  async #told<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.#explained(error);
    }
  }

  #explained(error: unknown): Error {
    const said = this.#mask(firstLine(error)).slice(0, LONGEST_MESSAGE);
    const options = { cause: error };
    const at = `ClickHouse at ${this.#url}`;
    if (!(error instanceof ClickHouseError)) {
      const why = codeOf(error) || said;
      return new UnreachableError(
        `${at} cannot be reached (${why}): check clickhouse.url, and whether the server runs`,
        options,
      );
    }
    const remedy = REFUSED.get(error.type ?? '');
    if (remedy !== undefined) return new UnreachableError(`${at} refused (${error.type}): ${remedy}`, options);
    return new Error(`${at} answered ${error.type}: ${said}`, options);
  }
}

/** Whether a statement failed because its table or database does not exist. */
export function isMissing(error: unknown): boolean {
  return error instanceof ClickHouseError && MISSING.includes(error.type);
}
