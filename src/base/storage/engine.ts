import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import type { DuckDBConnection, DuckDBInstance, DuckDBResult, DuckDBValue } from '@duckdb/node-api';
import { z } from 'zod';
import { Failure, messageOf } from '../exit.js';
import { duckdb } from './duckdb.js';
import { makeFolders } from './durable.js';
import { checkAreFiles } from './only-files.js';
import { literal } from './sql.js';
import { toValue, type Value } from './values.js';

/** Below this, a second thread's buffers would exceed the limit. */
const ONE_THREAD_BELOW_BYTES = 500_000_000;
const MAX_THREADS = 4;
const INTERRUPT_INTERVAL_MS = 20;
/** A full disk is another matter. */
const OUT_OF_MEMORY = /^Out of Memory Error(?!.*max_temp_directory_size)/s;
/** In bytes. Less would not help any statement that ran out of memory. */
const LEAST_ADVISED = 2e9;

export interface EngineOptions {
  /** A database file; left out for one in memory. */
  file?: string;
  readOnly?: boolean;
  /** For a new file: the oldest version of DuckDB that must be able to read it, such as `v1.0.0`. */
  storageVersion?: string;
  /** Bytes. */
  memoryLimit: number;
  /** Which part of `warehouse.memory_limit` that is, 0 to 1 (default 1). */
  memoryShare?: number;
  /** The folder below which DuckDB spills to a folder of its own; made if missing. */
  temporary: string;
  /** Whether other connections to this database see its views; only for one in memory. Default: no. */
  sharedViews?: boolean;
  /** If set, an engine in memory is a further connection to the database of this one, and opens at once. */
  within?: Engine | undefined;
}

/** What a variable or a bound parameter may be. */
export type Scalar = string | number | boolean | null;
export type Parameters = Record<string, Scalar | string[]>;

/** A statement that DuckDB refused, with its purpose. */
export class EngineError extends Failure {
  constructor(
    message: string,
    /** The bound values, because DuckDB does not always say which file it cannot read. */
    readonly parameters: Parameters,
    options: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** A statement that needs more memory than DuckDB may have. */
export class MemoryError extends EngineError {}

/**
 * One DuckDB connection, with the same settings everywhere: UTC, a memory limit, a folder for spill files.
 *
 * @example
 * await withEngine({ memoryLimit: 256e6, temporary: folder }, (engine) =>
 *   engine.rows(z.object({ url: z.string() }), 'select url from read_parquet($file)', { file }),
 * );
 */
export class Engine {
  #signal: AbortSignal | null = null;
  /** What `set` has set, as literals. */
  readonly #variables = new Map<string, string>();

  private constructor(
    /** Null if it belongs to another engine. */
    private readonly own: DuckDBInstance | null,
    private readonly instance: DuckDBInstance,
    private readonly connection: DuckDBConnection,
    /** With a spill folder of its own. */
    private readonly options: EngineOptions,
  ) {}

  static async open(options: EngineOptions): Promise<Engine> {
    if (options.file !== undefined) checkAreFiles([options.file]);
    // No await if the folder exists: a process that is asked to end removes it, and must not make it again.
    if (!existsSync(options.temporary)) await makeFolders(options.temporary);
    if (options.within && options.file === undefined) return options.within.connect();
    // One folder each, because two databases that spill into the same one would overwrite each other's files.
    const temporary = mkdtempSync(join(options.temporary, 'duckdb-'));
    const instance = await createInstance(options, temporary);
    const engine = new Engine(instance, instance, await instance.connect(), { ...options, temporary });
    await engine.run("set global TimeZone = 'UTC'");
    return engine;
  }

  /**
   * Another connection to the same database, for queries beside this one's. It sees what is not temporary. Close it
   * before this one, whose `close` ends the database.
   */
  async connect(): Promise<Engine> {
    return new Engine(null, this.instance, await this.instance.connect(), this.options);
  }

  /** Bytes. */
  get memoryLimit(): number {
    return this.options.memoryLimit;
  }

  /**
   * Runs `work` until a signal is aborted. Then the statement that runs on this connection is interrupted, later ones
   * are refused, and the signal's reason is thrown.
   */
  async until<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    let again: NodeJS.Timeout | undefined;
    const interrupt = () => {
      this.connection.interrupt();
      // Repeated, because a statement that has not quite begun misses it.
      again = setInterval(() => this.connection.interrupt(), INTERRUPT_INTERVAL_MS);
    };
    this.#signal = signal;
    signal.addEventListener('abort', interrupt, { once: true });
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      signal.removeEventListener('abort', interrupt);
      clearInterval(again);
      this.#signal = null;
    }
  }

  /** Sets variables that views and statements read with `getvariable`; skips those that already have this value. */
  async set(variables: Record<string, Scalar | readonly string[] | Date>): Promise<void> {
    const texts = Object.entries(variables).map(([name, value]) => [name, variableText(value)] as const);
    const changed = texts.filter(([name, text]) => this.#variables.get(name) !== text);
    if (changed.length === 0) return;
    await this.run(changed.map(([name, text]) => `set variable ${name} = ${text}`).join(';\n'));
    for (const [name, text] of changed) this.#variables.set(name, text);
  }

  /** Runs one statement. @throws EngineError with the statement's first line */
  async run(statement: string, parameters: Parameters = {}): Promise<DuckDBResult> {
    this.#signal?.throwIfAborted();
    try {
      return await this.connection.run(statement, bound(parameters), typesOf(parameters));
    } catch (cause) {
      throw this.refused(named(statement), parameters, cause);
    }
  }

  /** Runs one query and validates each row, whose values are as `toValue` returns them. */
  async rows<T>(schema: z.ZodType<T>, query: string, parameters: Parameters = {}): Promise<T[]> {
    this.#signal?.throwIfAborted();
    try {
      const reader = await this.connection.runAndReadAll(query, bound(parameters), typesOf(parameters));
      return z.array(schema).parse(reader.convertRowObjects<Value>((value) => toValue(value)));
    } catch (cause) {
      throw this.refused(named(query), parameters, cause);
    }
  }

  /** How a refused statement is reported. @param named adds what was refused to the message */
  refused(named: (message: string) => string, parameters: Parameters, cause: unknown): EngineError {
    const message = messageOf(cause);
    if (!OUT_OF_MEMORY.test(message)) return new EngineError(named(message), parameters, { cause });
    const { memoryLimit, memoryShare = 1 } = this.options;
    const advised = Math.max(LEAST_ADVISED, (2 * memoryLimit) / memoryShare);
    const needs = `DuckDB needs more memory than the ${Math.round(memoryLimit / 1e6)}MB that it has here`;
    const remedy = `set \`warehouse.memory_limit\` to ${Math.round(advised / 1e9)}GB`;
    return new MemoryError(`${needs}: ${remedy}`, parameters, { cause });
  }

  /** Writes a query's rows into a file, and returns their number. The file's name is not read as a pattern. */
  async copy(query: string, file: string, format: string): Promise<number> {
    const counted = z.object({ Count: z.coerce.number() });
    const [row] = await this.rows(counted, `copy (${query}\n) to ${literal(file)} (${format})`);
    return row?.Count ?? 0;
  }

  /** Concatenates Parquet files into one, with the rows in order. */
  async copyInOrder(parts: string[], file: string, format: string): Promise<number> {
    await this.run('set preserve_insertion_order = true');
    const rows = await this.copy(`select * from read_parquet([${parts.map(literal).join(', ')}])`, file, format);
    await this.run('set preserve_insertion_order = false');
    return rows;
  }

  /** Makes a view of a query; it ends with this engine. */
  async view(name: string, query: string): Promise<void> {
    await this.views({ [name]: query });
  }

  /** Makes views of queries, by name. */
  async views(queries: Readonly<Record<string, string>>): Promise<void> {
    await this.run(this.viewsScript(queries));
  }

  /** The script of `views`, to run as part of a longer one. */
  viewsScript(queries: Readonly<Record<string, string>>): string {
    const all = Object.entries(queries).map(([name, query]) => this.#making('view', name, query));
    return all.join(';\n');
  }

  /** Makes a table from a query; it ends with this engine. */
  async table(name: string, query: string): Promise<void> {
    await this.run(this.#making('table', name, query));
  }

  #making(kind: 'view' | 'table', name: string, query: string): string {
    return `create or replace ${this.options.sharedViews ? '' : 'temp '}${kind} ${name} as ${query}`;
  }

  /** The connection itself, for reading results by their types. */
  get raw(): DuckDBConnection {
    return this.connection;
  }

  close(): void {
    this.connection.closeSync();
    if (!this.own) return;
    this.own.closeSync();
    rmSync(this.options.temporary, { recursive: true, force: true });
  }
}

async function createInstance(options: EngineOptions, temporary: string): Promise<DuckDBInstance> {
  const { memoryLimit } = options;
  const threads = memoryLimit < ONE_THREAD_BELOW_BYTES ? 1 : Math.min(MAX_THREADS, cpus().length);
  try {
    return await duckdb.DuckDBInstance.create(options.file ?? ':memory:', {
      memory_limit: `${Math.round(memoryLimit / 1000)}KB`,
      temp_directory: temporary,
      threads: String(threads),
      preserve_insertion_order: 'false',
      // Freed memory goes back to the system soon: each statement runs on another thread of a pool, and what the C
      // library keeps for each of them once made a sync of a million pages half as large again.
      allocator_bulk_deallocation_flush_threshold: '32MB',
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
      ...(options.readOnly ? { access_mode: 'READ_ONLY' } : {}),
      ...(options.storageVersion ? { storage_compatibility_version: options.storageVersion } : {}),
    });
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    throw error;
  }
}

/** Opens an engine, hands it to `use`, and closes it whatever happens. */
export async function withEngine<T>(options: EngineOptions, use: (engine: Engine) => Promise<T>): Promise<T> {
  const engine = await Engine.open(options);
  try {
    return await use(engine);
  } finally {
    engine.close();
  }
}

/** As literals, so that one script sets several. A time is a TIMESTAMPTZ; DuckDB reads a long list much faster as JSON. */
function variableText(value: Scalar | readonly string[] | Date): string {
  if (value instanceof Date) return `${literal(value.toISOString())}::timestamptz`;
  if (typeof value === 'object' && value !== null) return `${literal(JSON.stringify(value))}::json::varchar[]`;
  if (typeof value === 'string') return literal(value);
  return Number.isInteger(value) || typeof value !== 'number' ? String(value) : `${value}::double`;
}

/** Undefined if there is nothing to bind, because DuckDB plans a prepared statement twice. */
function bound(parameters: Parameters): Record<string, DuckDBValue> | undefined {
  const all = Object.entries(parameters);
  if (all.length === 0) return undefined;
  return Object.fromEntries(all.map(([name, value]) => [name, Array.isArray(value) ? duckdb.listValue(value) : value]));
}

function typesOf(parameters: Parameters) {
  const lists = Object.entries(parameters).filter(([, value]) => Array.isArray(value));
  return Object.fromEntries(lists.map(([name]) => [name, duckdb.LIST(duckdb.VARCHAR)]));
}

/** How many bytes a text that quotes a MemoryError advises; 0 if it quotes none. */
export function advisedMemory(text: string): number {
  return Number(/set `warehouse\.memory_limit` to (\d+)GB/.exec(text)?.[1] ?? 0) * 1e9;
}

/** Names a statement by its beginning. */
function named(statement: string) {
  return (message: string) => `${message} (in: ${statement.replace(/\s+/g, ' ').slice(0, 80)}…)`;
}
