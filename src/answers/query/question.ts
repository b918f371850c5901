import type { DuckDBPreparedStatement, DuckDBResult } from '@duckdb/node-api';
import { nearest } from '../../base/config/suggest.js';
import { messageOf, Stopped, UsageError } from '../../base/exit.js';
import { escapedJson } from '../../base/observe/terminal.js';
import { duckdb } from '../../base/storage/duckdb.js';
import type { Engine, Scalar } from '../../base/storage/engine.js';
import { identifier, literal } from '../../base/storage/sql.js';
import { toValue, type Value } from '../../base/storage/values.js';
import type { Reader } from './reader.js';
import { lookInto, PRAGMAS } from './reads-tables-only.js';

/** DuckDB's names for errors that are not the statement's fault, but the disk's, the machine's or our own. */
const NOT_OUR_SQL = /^(IO|Out of Memory|Internal|Fatal|FATAL|Serialization|Corrupt\w*) Error/i;
const UNKNOWN = /^Catalog Error/;
const PIVOT = /^pivot\b/i;
/** Statements that the engine may refuse for another reason before it names their kind. */
const WRITING =
  /^(copy|insert|update|delete|create|drop|alter|truncate|merge|attach|detach|export|import|install|load|pragma|set|reset)\b/i;

/** The pieces of a statement, to separate its content from the comments, spaces and semicolons around it. */
const PIECES =
  /[eE]'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$[\s\S]*?\$\1\$|--[^\n]*|\/\*[\s\S]*?\*\/|\s+|[\s\S]/g;
const NO_CONTENT = /^(--|\/\*|\s|;$)/;

export interface Question {
  /** What it is called in messages: a file, `--sql` or an analysis. */
  name: string;
  sql: string;
  /** Values by the names that the statement uses with a `$`. */
  parameters: Readonly<Record<string, Scalar>>;
  /** The id of the only website that the statement is about; null or left out: it may read all. */
  website?: string | null | undefined;
  /** The columns to answer with, in their order. Default: all. */
  columns?: readonly string[] | undefined;
}

/** The answer to a question, in parts, so that it need not fit into memory. */
export interface Result {
  /** Unique: a repeated name gets a suffix. */
  columns: string[];
  /** The kind of each column, because the values are texts in any case. */
  types: ('date' | 'time' | 'other')[];
  /** Rows with one value per column. May throw what `ask` throws. */
  parts: AsyncIterable<Value[][]>;
}

/**
 * Asks a reader one question. Read its answer before you ask the next one.
 *
 * @throws UsageError for anything but a single reading statement, for wrong parameters, and for SQL that fails
 */
export async function ask(reader: Reader, question: Question): Promise<Result> {
  const turn = reader.nextTurn();
  const prepared = await prepare(reader, question);
  const result = await explained(reader.engine, question, async () => {
    prepared.bind({ ...question.parameters });
    return prepared.stream();
  });
  const names = result.deduplicatedColumnNames();
  const { columns = names } = question;
  const places = placesOf(question, columns, names);
  const parts = partsOf(reader, question, { result, turn });
  return {
    columns: [...columns],
    types: places.map((at) => TYPES.get(result.columnTypeId(at)) ?? 'other'),
    parts: question.columns ? picked(parts, places) : parts,
  };
}

/** Counts the rows of an answer, up to `most`. Throws as `ask` does. */
export async function countRows(reader: Reader, question: Question, most: number): Promise<number> {
  const { name, parameters, website } = question;
  const text = `select count(*)::integer as n from (select 1 from (${bare(question.sql)}\n) limit ${most})`;
  const { parts } = await ask(reader, { name, parameters, website, sql: text });
  for await (const [[rows] = []] of parts) return Number(rows);
  return 0;
}

const { DATE, TIMESTAMP, TIMESTAMP_TZ, TIMESTAMP_MS, TIMESTAMP_NS, TIMESTAMP_S } = duckdb.DuckDBTypeId;
const TYPES = new Map<number, 'date' | 'time'>([
  [DATE, 'date'],
  ...[TIMESTAMP, TIMESTAMP_TZ, TIMESTAMP_MS, TIMESTAMP_NS, TIMESTAMP_S].map((type) => [type, 'time'] as const),
]);

/** The positions of the wanted columns in the answer. @throws UsageError for one that is not in it */
function placesOf({ name }: Question, wanted: readonly string[], names: readonly string[]): number[] {
  return wanted.map((column) => {
    const at = names.indexOf(column);
    if (at >= 0) return at;
    const meant = nearest(column, names);
    const suggestion = meant ? ` Did you mean "${meant}"?` : '';
    throw new UsageError(`${name}: there is no column "${column}".${suggestion} There are: ${names.join(', ')}`);
  });
}

async function* picked(parts: AsyncIterable<Value[][]>, places: readonly number[]): AsyncGenerator<Value[][]> {
  for await (const rows of parts) yield rows.map((row) => places.map((at) => row[at] ?? null));
}

/**
 * Writes an answer into a Parquet file with DuckDB's own types, except that JSON becomes text, and HUGEINT BIGINT. Throws like
 * `ask`.
 *
 * @returns its rows
 */
export async function askIntoParquet(reader: Reader, question: Question, file: string): Promise<number> {
  reader.nextTurn();
  const prepared = await prepare(reader, question);
  const copy = `copy (${plainColumns(question, prepared)}) to ${literal(file)} (format parquet, compression zstd)`;
  const copied = await explained(reader.engine, question, () =>
    reader.engine.raw.run(copy, { ...question.parameters }),
  );
  return Number((await copied.getRows())[0]?.[0] ?? 0);
}

/** An answer as a JSON array with one object per line. */
export async function* jsonText({ columns, parts }: Result): AsyncGenerator<string> {
  let before = '[\n';
  for await (const rows of parts) {
    const texts = rows.map((row) =>
      JSON.stringify(Object.fromEntries(columns.map((name, at) => [name, row[at] ?? null]))),
    );
    yield `${before}  ${escapedJson(texts.join(',\n  '))}`;
    before = ',\n';
  }
  yield before === '[\n' ? '[]\n' : '\n]\n';
}

/** Selects the wanted columns, with JSON as text, because many readers do not know Parquet's type for it. */
function plainColumns(question: Question, prepared: DuckDBPreparedStatement): string {
  const names = Array.from({ length: prepared.columnCount }, (_, at) => prepared.columnName(at));
  const places = question.columns ? placesOf(question, question.columns, names) : [...names.keys()];
  const selected = places.map((at) => {
    const { alias, typeId } = prepared.columnType(at);
    // Sums are HUGEINT, for which Parquet has no type: DuckDB would write them as rounded doubles.
    const cast = alias === 'JSON' ? '::varchar' : typeId === duckdb.DuckDBTypeId.HUGEINT ? '::bigint' : '';
    return `c${at}${cast} as ${identifier(names[at] ?? '')}`;
  });
  return `select ${selected.join(', ')} from (${bare(question.sql)}\n) as answer(${names.map((_, at) => `c${at}`).join(', ')})`;
}

/**
 * Makes sure that the question is one statement that only reads, with just these parameters, and that everything that
 * it names is there.
 */
async function prepare(reader: Reader, question: Question): Promise<DuckDBPreparedStatement> {
  const text = bare(question.sql);
  if (text === '') throw new UsageError(`${question.name}: no statement found`);
  const { names, lists } = await explained(reader.engine, question, async () => {
    // Before the text is parsed, for which IMPORT DATABASE opens files.
    const writing = WRITING.exec(text)?.[0];
    if (writing && !PRAGMAS.test(text)) throw refusal(question, `is not a query but ${writing.toUpperCase()}`);
    const { count } = await reader.engine.raw.extractStatements(question.sql);
    if (count !== 1) throw several(question, count);
    // Before it is prepared, which opens files.
    const looked = await lookInto(reader.engine, text);
    if (looked.refused !== null) throw refusal(question, looked.refused);
    return looked;
  });
  if (lists) await reader.provideAll();
  await reader.provide(names, question.website ?? null);
  const prepared = await explained(reader.engine, question, () =>
    reader.engine.raw.prepare(text).catch(async (error) => {
      if (!UNKNOWN.test(messageOf(error))) throw error;
      // Again, for a message that names what may be meant.
      await reader.provideAll();
      return reader.engine.raw.prepare(text);
    }),
  );
  if (prepared.statementType !== duckdb.StatementType.SELECT) {
    throw refusal(question, `is not a query but ${duckdb.StatementType[prepared.statementType] ?? 'something else'}`);
  }
  checkParameters(question, prepared);
  return prepared;
}

function refusal({ name }: Question, what: string): UsageError {
  return new UsageError(
    `${name} ${what}. Only tables and views can be read: give exactly one statement, ` +
      'such as SELECT, WITH, FROM, VALUES, SHOW, DESCRIBE or SUMMARIZE',
  );
}

function several(question: Question, count: number): UsageError {
  // A PIVOT that must first find its columns is more than one statement to DuckDB.
  if (!PIVOT.test(bare(question.sql))) return refusal(question, `holds ${count} statements`);
  return new UsageError(`${question.name}: name the columns that PIVOT makes: PIVOT … ON column IN ('a', 'b')`);
}

function checkParameters({ name, parameters }: Question, prepared: DuckDBPreparedStatement): void {
  const wanted = Array.from({ length: prepared.parameterCount }, (_, index) => prepared.parameterName(index + 1));
  const unknown = Object.keys(parameters).find((given) => !wanted.includes(given));
  const uses = wanted.length === 0 ? 'uses no parameters' : `uses ${wanted.map((one) => `$${one}`).join(', ')}`;
  if (unknown !== undefined) throw new UsageError(`${name}: there is no parameter $${unknown}; the statement ${uses}`);
  const missing = wanted.find((one) => !Object.hasOwn(parameters, one));
  if (missing !== undefined) {
    throw new UsageError(`${name}: the parameter $${missing} is missing: ${missing}=…; the statement ${uses}`);
  }
}

async function* partsOf(
  reader: Reader,
  question: Question,
  { result, turn }: { result: DuckDBResult; turn: Reader['turn'] },
): AsyncGenerator<Value[][]> {
  for (;;) {
    // Otherwise, DuckDB ends such a result as if it had no more rows.
    if (reader.turn !== turn)
      throw new Error(`${question.name}: another question was asked before its answer was read`);
    const chunk = await explained(reader.engine, question, () => result.fetchChunk());
    if (!chunk || chunk.rowCount === 0) return;
    // Column by column, which takes three quarters of the time that row by row does.
    const columns = chunk.convertColumns<Value>((value) => toValue(value));
    yield Array.from({ length: chunk.rowCount }, (_, row) => columns.map((column) => column[row] ?? null));
  }
}

/** Runs `work`, and turns DuckDB's errors about the statement into a UsageError. */
async function explained<T>(engine: Engine, question: Question, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    const message = messageOf(cause).replace(/^Invalid Input Error: /, '');
    if (/^INTERRUPT Error/i.test(message))
      throw new Stopped(`${question.name}: stopped before the answer was complete`);
    if (NOT_OUR_SQL.test(message))
      throw engine.refused((text) => `${question.name}: ${text}`, question.parameters, cause);
    throw new UsageError(`${question.name}: ${message}`, { cause });
  }
}

/** A statement without the comments before it, and the semicolons and comments that follow it. */
function bare(text: string): string {
  const pieces = [...text.matchAll(PIECES)].filter(([piece]) => !NO_CONTENT.test(piece));
  const [first, last] = [pieces[0], pieces.at(-1)];
  return first && last ? text.slice(first.index, last.index + last[0].length) : '';
}
