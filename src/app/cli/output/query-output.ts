import { createReadStream } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Analysis } from '../../../answers/query/catalog.js';
import { whyNoRows } from '../../../answers/query/filters.js';
import { periodNote } from '../../../answers/query/period-note.js';
import { ask, askIntoParquet, countRows, type Question, type Result } from '../../../answers/query/question.js';
import { type Reader, withReader } from '../../../answers/query/reader.js';
import type { ReaderOptions } from '../../../answers/query/reader-options.js';
import { Stopped, UsageError } from '../../../base/exit.js';
import { csvText } from '../../../base/observe/csv.js';
import { count } from '../../../base/observe/format.js';
import { colorsWanted, escapedJson } from '../../../base/observe/terminal.js';
import type { Value } from '../../../base/storage/values.js';
import { type Io, stoppable, widthOf } from '../io.js';
import { answerTable, UNKNOWN } from './answer-table.js';
import { inPlace, type Sink, writeStream } from './sink.js';
import { MOST_ROWS, spreadsheet } from './spreadsheet.js';
import { formatTable, markdownTable, notesText } from './table.js';

/** A question, and the analysis that it comes from; null for the user's own SQL. */
export interface Asked {
  question: Question;
  analysis: Analysis | null;
  /** Whether its limit is the analysis's default. */
  hasDefaultLimit: boolean;
}

/** Opens a reader for `work`, and interrupts its query when the process receives a stop signal. */
export function answered<T>(options: ReaderOptions, io: Io, work: (reader: Reader) => Promise<T>) {
  return withReader(options, (reader) =>
    stoppable(io, async (signal) => {
      try {
        return await reader.engine.until(signal, () => work(reader));
      } catch (error) {
        throw signal.aborted ? new Stopped('stopped before the answer was complete') : error;
      }
    }),
  );
}

/** Runs a query and streams its rows, so that they need not fit into memory (except as a table). */
export async function writeAnswer(reader: Reader, asked: Asked, sink: Sink): Promise<void> {
  const { question, analysis } = asked;
  switch (sink.format) {
    case 'parquet':
      return writeParquet(reader, question, sink);
    case 'table':
    case 'md':
      return writeTable(reader, asked, sink);
    case 'xlsx':
      await checkRows(reader, question);
      return writeStream(spreadsheet(await answerTo(reader, asked, sink), analysis), sink);
    case 'json':
      return writeStream(jsonText(await answerTo(reader, asked, sink)), sink);
    case 'csv':
      return writeCsv(await answerTo(reader, asked, sink), sink);
  }
}

/** The answer. Says on stderr if a default limit has cut it short. */
async function answerTo(reader: Reader, { question, hasDefaultLimit }: Asked, { io }: Sink): Promise<Result> {
  const answer = await ask(reader, question);
  const limit = limitOf(question);
  if (limit === null || !hasDefaultLimit) return answer;
  async function* counted() {
    let rows = 0;
    for await (const part of answer.parts) {
      rows += part.length;
      yield part;
    }
    if (rows === limit)
      io.stderr.write(`indexhouse: ${question.name}: the first ${limit} rows; all: --param limit=none\n`);
  }
  return { ...answer, parts: counted() };
}

async function writeParquet(reader: Reader, question: Question, sink: Sink): Promise<void> {
  const file = join(reader.folder, 'answer.parquet');
  await askIntoParquet(reader, question, file);
  if (sink.out === undefined) return pipeline(createReadStream(file), sink.io.stdout, { end: false });
  await inPlace(sink.out, (temporary) => copyFile(file, temporary));
}

/** @throws UsageError for more rows than a sheet can hold, before the first is written */
async function checkRows(reader: Reader, question: Question): Promise<void> {
  if ((await countRows(reader, question, MOST_ROWS + 1)) <= MOST_ROWS) return;
  throw new UsageError(
    `${question.name}: more than the ${count(MOST_ROWS)} rows that a spreadsheet holds: use csv or parquet, or ask for fewer`,
  );
}

async function writeCsv({ columns, parts }: Result, sink: Sink): Promise<void> {
  await writeStream(csvText(columns, parts, sink), sink);
}

async function* jsonText({ columns, parts }: Result): AsyncGenerator<string> {
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

/** Writes all rows at once, because a column is as wide as its widest cell. */
async function writeTable(reader: Reader, { question, analysis }: Asked, sink: Sink): Promise<void> {
  const { out, io, format } = sink;
  const limit = analysis ? limitOf(question) : null;
  const { columns, parts } = await ask(reader, limit === null ? question : oneMore(question, limit));
  const rows: Value[][] = [];
  for await (const part of parts) for (const row of part) rows.push(row);
  const isCut = limit !== null && rows.length > limit;
  if (isCut) rows.pop();
  const websites = analysis ? await namesOf(reader) : new Map<string, string>();
  const shown = analysis
    ? answerTable(
        { analysis, columns, rows, chosen: question.columns, websites, today: reader.today, isCut },
        format === 'md',
      )
    : { columns, rows, notes: rows.length === 0 ? ['No rows.'] : [] };
  const unmet = analysis && rows.length === 0 ? await whyNoRows(reader, question) : [];
  const period = analysis && rows.length > 0 ? await periodNote(reader, question) : null;
  const notes = [...(period === null ? [] : [period]), ...shown.notes, ...unmet];
  const isTerminal = out === undefined && io.stdout.isTTY === true;
  const options = {
    unknown: analysis ? UNKNOWN : undefined,
    width: isTerminal ? widthOf(io.stdout) : undefined,
    color: isTerminal && colorsWanted(io.stdout, io.env),
  };
  const text =
    format === 'md'
      ? markdownTable(shown.columns, shown.rows, { ...options, notes })
      : `${formatTable(shown.columns, shown.rows, options)}${notesText(notes, options)}`;
  await writeStream(Readable.from([text]), sink);
}

/**
 * The display names of a warehouse's websites, by id; empty if there is only one. If two have the same name, the id
 * follows it.
 */
async function namesOf(reader: Reader): Promise<Map<string, string>> {
  const names = new Map((await reader.newest(null)).map(({ id, name }) => [id, name]));
  if (names.size < 2) return new Map();
  const all = [...names.values()];
  const isTaken = (name: string) => all.indexOf(name) !== all.lastIndexOf(name);
  return new Map([...names].map(([id, name]) => [id, isTaken(name) ? `${name} (${id})` : name]));
}

/** The most rows that an analysis returns; null: no limit. */
function limitOf({ parameters, sql }: Question): number | null {
  const { limit } = parameters;
  return typeof limit === 'number' && /limit \$limit::bigint$/.test(sql) ? limit : null;
}

/** Asks for one row more than is shown, to see whether there are more. */
function oneMore(question: Question, limit: number): Question {
  return { ...question, parameters: { ...question.parameters, limit: limit + 1 } };
}
