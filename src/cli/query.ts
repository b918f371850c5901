import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { questionOf } from '../analysis/ask-rows.js';
import { type Analysis, analyses, findAnalysis } from '../analysis/catalog.js';
import { describe } from '../analysis/parameters.js';
import type { Question } from '../analysis/question.js';
import type { Reader } from '../analysis/reader.js';
import { UsageError } from '../exit.js';
import { exitFor, readerOptions } from './configured.js';
import { EXIT, type Io } from './io.js';
import { formatJson } from './output.js';
import type { Globals } from './program.js';
import { answered, checkOutside, checkSink, type Format, type Sink, writeAnswer } from './query-output.js';

const PARAMETER = /^(\w+)=([\s\S]*)$/;

const FOOT = `
Details:   indexhouse query --describe <name>
Run:       indexhouse query <name> [--param name=value]
Your SQL:  indexhouse query --sql "select …"
`;

export interface Flags extends Globals {
  sql?: string;
  file?: string;
  param?: string[];
  format?: Format;
  out?: string;
  force?: boolean;
  rawCsv?: boolean;
  describe?: string;
  warehouse?: string;
}

/** `indexhouse query`: ready-made or ad hoc SQL, read-only, over the Parquet files. */
export async function run(flags: Flags, io: Io, words: string[]): Promise<number> {
  const name = oneName(words);
  const given = parametersOf([...(flags.param ?? []), ...words.filter((word) => PARAMETER.test(word))]);
  const asked = [name, flags.sql, flags.file, flags.describe].filter((way) => way !== undefined);
  if (asked.length > 1) throw new UsageError('use one of: the name of an analysis, --sql, --file, --describe');
  if (asked.length === 0 || flags.describe !== undefined) {
    io.stdout.write(catalogText(flags.describe, flags.json === true));
    return EXIT.done;
  }
  const sink = sinkOf(flags, io);
  await checkSink(sink);
  const options = await readerOptions(flags, io);
  if (sink.out !== undefined) await checkOutside(options.warehouse, sink.out);
  const question = await questionTo({ ...flags, name }, given, io.cwd);
  const { damaged } = await answered(options, io, async (reader) => writeAnswer(reader, await question(reader), sink));
  return exitFor(damaged, io);
}

/** A word without `=` is the name; the others are parameters. */
function oneName(words: string[]): string | undefined {
  const [name, second] = words.filter((word) => !PARAMETER.test(word));
  if (second !== undefined) throw new UsageError(`one analysis at a time; pass parameters as --param name=value`);
  return name;
}

function parametersOf(texts: string[]): Map<string, string> {
  const given = new Map<string, string>();
  for (const text of texts) {
    const [, name, value] = PARAMETER.exec(text) ?? [];
    if (name === undefined || value === undefined) throw new UsageError(`--param takes name=value (given: ${text})`);
    if (given.has(name)) throw new UsageError(`the parameter ${name} is given twice`);
    given.set(name, value);
  }
  return given;
}

function sinkOf(flags: Flags, io: Io): Sink {
  if (flags.json && flags.format !== undefined && flags.format !== 'json') {
    throw new UsageError(`--json and --format ${flags.format} cannot be combined`);
  }
  const format = flags.format ?? (flags.json ? 'json' : 'table');
  const out = flags.out === undefined ? undefined : resolve(io.cwd, flags.out);
  return { format, out, force: flags.force === true, guardFormulas: flags.rawCsv !== true, io };
}

/** The question that is asked; what an analysis takes depends on the warehouse. */
async function questionTo(
  { name, sql, file }: Flags & { name?: string | undefined },
  given: Map<string, string>,
  cwd: string,
): Promise<(reader: Reader) => Promise<Question>> {
  if (name === undefined) {
    const text = sql ?? (await readSql(resolve(cwd, file ?? '')));
    return async () => ({ name: file ?? '--sql', sql: text, parameters: Object.fromEntries(given) });
  }
  const analysis = findAnalysis(name);
  return (reader) => questionOf(reader, analysis, given);
}

async function readSql(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new UsageError(`cannot read ${file}: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}

/** The list of all analyses, or what is to be known of one, with its SQL. */
function catalogText(name: string | undefined, json: boolean): string {
  if (name === undefined) return json ? formatJson(analyses()) : `${analyses().map(entry).join('\n')}${FOOT}`;
  const analysis = findAnalysis(name);
  return json ? formatJson(analysis) : details(analysis);
}

function entry({ name, title, parameters }: Analysis): string {
  const lines = parameters.map((parameter) => `    ${describe(parameter)}\n`);
  return `${name}: ${title}\n${lines.join('')}`;
}

function details(analysis: Analysis): string {
  const { name, title, description, grain, parameters, sql } = analysis;
  const lines = parameters.map((parameter) => `  ${describe(parameter)}\n`);
  const taken = lines.length > 0 ? `\nParameters:\n${lines.join('')}` : '';
  // Without its header, whose content is printed above.
  const statement = sql.slice(sql.search(/^(?!--)/m));
  return `${name}: ${title}\n\n${description}\nGives ${grain}.\n${taken}\n${statement}\n`;
}
