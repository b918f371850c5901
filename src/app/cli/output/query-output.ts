import { createReadStream } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Analysis } from '../../../answers/query/catalog.js';
import { periodNote, whyNoRows } from '../../../answers/query/period-note.js';
import { ask, askIntoParquet, jsonText, type Question } from '../../../answers/query/question.js';
import { type Reader, withReader } from '../../../answers/query/reader.js';
import type { ReaderOptions } from '../../../answers/query/reader-options.js';
import { aboutQuestion } from '../../../answers/workbook/about.js';
import { Stopped } from '../../../base/exit.js';
import { csvText } from '../../../base/observe/csv.js';
import { counted } from '../../../base/observe/format.js';
import { colorsWanted, shownOn } from '../../../base/observe/terminal.js';
import type { Value } from '../../../base/storage/values.js';
import { type Io, stoppable, widthOf } from '../io.js';
import { answerTable, UNKNOWN } from './answer-table.js';
import { formatTable, markdownTable, notesText } from './output.js';
import { inPlace, type Sink, writeStream } from './sink.js';

/** A question, and the analysis that it comes from; null for the user's own SQL. */
export interface Asked {
  question: Question;
  analysis: Analysis | null;
  /** The parameters that the user gave. */
  given: ReadonlyMap<string, string>;
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

/**
 * Runs a query and streams its rows, so that they need not fit into memory (except as a table).
 *
 * @returns how many rows were written
 */
export async function writeAnswer(reader: Reader, asked: Asked, sink: Sink): Promise<number> {
  const { question, analysis, given } = asked;
  const { format, io } = sink;
  if (format === 'parquet') return writeParquet(reader, question, sink);
  if (format === 'table' || format === 'md') return writeTable(reader, asked, sink);
  const xlsx = format === 'xlsx' ? await import('../../../answers/workbook/workbook.js') : null;
  await xlsx?.checkRows(reader, question);
  const about = xlsx ? await aboutQuestion(reader, question, analysis, given) : [];
  const answer = await ask(reader, question);
  let rows = 0;
  async function* parts() {
    for await (const part of answer.parts) {
      rows += part.length;
      yield part;
    }
  }
  const result = { ...answer, parts: parts() };
  const csv = { isRaw: sink.rawCsv, isFile: sink.out !== undefined };
  if (format === 'csv') await writeStream(shownParts(csvText(result.columns, result.parts, csv), sink), sink);
  else if (xlsx) await writeStream(xlsx.workbook(result, about, question.columns ? null : analysis), sink);
  else await writeStream(jsonText(result), sink);
  if (!given.has('limit') && rows === limitOf(question))
    io.stderr.write(`indexhouse: ${question.name}: the first ${counted(rows, 'row')}; all: limit=none\n`);
  return rows;
}

async function* shownParts(parts: AsyncIterable<string>, { out, io }: Sink): AsyncGenerator<string> {
  for await (const part of parts) yield out === undefined ? shownOn(io.stdout, part) : part;
}

async function writeParquet(reader: Reader, question: Question, sink: Sink): Promise<number> {
  const file = join(reader.folder, 'answer.parquet');
  const rows = await askIntoParquet(reader, question, file);
  if (sink.out === undefined) await pipeline(createReadStream(file), sink.io.stdout, { end: false });
  else await inPlace(sink.out, (temporary) => copyFile(file, temporary));
  return rows;
}

/** Writes all rows at once, because a column is as wide as its widest cell. */
async function writeTable(reader: Reader, { question, analysis }: Asked, sink: Sink): Promise<number> {
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
  return rows.length;
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
