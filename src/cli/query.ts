import { type Command, Option } from 'commander';
import type { Question } from '../analysis/question.js';
import type { Reader, ReaderOptions } from '../analysis/reader.js';
import type { DamagedFile } from '../warehouse/damage.js';
import { EXIT, flagsOf, type Globals, newCommand, type Outcome, UsageError } from './command.js';
import type { Format, Sink, Terminal } from './query-output.js';
import { exitFor, readerOptions } from './reader-options.js';

const FORMATS: readonly Format[] = ['table', 'json', 'csv', 'parquet'];
const PARAMETER = /^(\w+)=([\s\S]*)$/;

const HELP = `
Without a name: lists the ready-made analyses. Dates like "6 days ago" count from the newest snapshot.
Both ends of a span are included: the last seven dates are those since "6 days ago".
A list that a default cuts short is whole with --param limit=none.
SQL sees the tables snapshots, runs, coverage, url_reports, report_failures, rejected_records, drift_observations,
coverage_summary, page_changes and page_state, and the views pages, snapshot_summary, coverage_daily, page_history,
quarantine and api_drift.

Examples:
  indexhouse query                                      what can be asked
  indexhouse query indexing_trend --param since="30 days ago"
  indexhouse query page_timeline --param url=https://example.com/a
  indexhouse query --sql "select website_id, count(*) from pages where is_indexed group by all" --format csv
  indexhouse query --file answer.sql --param site=example.com --format parquet --out answer.parquet`;

interface Flags extends Globals {
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
export function queryCommand(outcome: Outcome, terminal: Terminal = process): Command {
  return newCommand('query', 'ask the warehouse: a ready-made analysis, or SQL; read-only, never blocked by a sync')
    .argument('[name]', 'a ready-made analysis')
    .argument('[name=value...]', 'its parameters, as with --param')
    .option('--sql <text>', 'one SQL query')
    .option('--file <file>', 'a file with one SQL query')
    .option('-p, --param <name=value>', 'a parameter, $name in SQL; may be repeated', repeated)
    .addOption(new Option('-f, --format <format>', 'default: table, or json with --json').choices(FORMATS))
    .option('-o, --out <file>', 'write there instead of stdout')
    .option('--force', 'write over an existing file, but for those of the warehouse')
    .option('--raw-csv', 'leave text that a spreadsheet would run as a formula as it is')
    .option('--describe <name>', 'what an analysis answers, its parameters and its SQL')
    .option('--warehouse <folder>', 'the warehouse, instead of the one that the configuration names')
    .addHelpText('after', HELP)
    .action(async (name: string | undefined, more: string[], _: Flags, command: Command) => {
      const words = name === undefined ? more : [name, ...more];
      outcome.exitCode = await query(words, flagsOf<Flags>(command), terminal);
    });
}

async function query(words: string[], flags: Flags, terminal: Terminal): Promise<number> {
  const { QuestionError } = await import('../analysis/errors.js');
  try {
    return await answer(words, flags, terminal);
  } catch (error) {
    if (error instanceof QuestionError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}

async function answer(words: string[], flags: Flags, terminal: Terminal): Promise<number> {
  const name = oneName(words);
  const given = parametersOf([...(flags.param ?? []), ...words.filter((word) => PARAMETER.test(word))]);
  const asked = [name, flags.sql, flags.file, flags.describe].filter((way) => way !== undefined);
  if (asked.length > 1) throw new UsageError('give one of: the name of an analysis, --sql, --file, --describe');
  if (asked.length === 0 || flags.describe !== undefined) {
    const { catalogText } = await import('./query-catalog.js');
    terminal.stdout.write(catalogText(flags.describe, flags.json === true));
    return EXIT.done;
  }
  const sink = sinkOf(flags, terminal);
  const { checkSink } = await import('./query-output.js');
  await checkSink(sink);
  const options = await readerOptions(flags);
  if (sink.out !== undefined) {
    const { checkOutside } = await import('./out-file.js');
    await checkOutside(options.warehouse, sink.out);
  }
  return exitFor(await askOnce(sink, options, await questionTo({ ...flags, name }, given)));
}

/** What stands alone is the name; the rest are parameters. */
function oneName(words: string[]): string | undefined {
  const [name, second] = words.filter((word) => !PARAMETER.test(word));
  if (second !== undefined) throw new UsageError(`one analysis at a time; parameters are given as --param name=value`);
  return name;
}

function repeated(text: string, before: string[] = []): string[] {
  return [...before, text];
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

function sinkOf(flags: Flags, terminal: Terminal): Sink {
  if (flags.json && flags.format !== undefined && flags.format !== 'json') {
    throw new UsageError(`--json and --format ${flags.format} contradict each other`);
  }
  const format = flags.format ?? (flags.json ? 'json' : 'table');
  return { format, out: flags.out, force: flags.force === true, guardFormulas: flags.rawCsv !== true, terminal };
}

type QuestionTo = (reader: Reader) => Promise<Question>;

/** The question that is asked; what an analysis takes depends on the warehouse. */
async function questionTo(
  { name, sql, file }: Flags & { name?: string | undefined },
  given: Map<string, string>,
): Promise<QuestionTo> {
  if (name === undefined) {
    const text = sql ?? (await readSql(file ?? ''));
    return async () => ({ name: file ?? '--sql', sql: text, parameters: Object.fromEntries(given) });
  }
  const [{ findAnalysis }, { questionOf }] = await Promise.all([
    import('../analysis/catalog.js'),
    import('../analysis/ask-analysis.js'),
  ]);
  const analysis = findAnalysis(name);
  return (reader) => questionOf(reader, analysis, given);
}

async function readSql(file: string): Promise<string> {
  const { readFile } = await import('node:fs/promises');
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new UsageError(`cannot read ${file}: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}

/** @returns the files that the answer is without */
async function askOnce(sink: Sink, options: ReaderOptions, question: QuestionTo): Promise<readonly DamagedFile[]> {
  const [{ withReader }, { writeAnswer }, { stopSignal }] = await Promise.all([
    import('../analysis/reader.js'),
    import('./query-output.js'),
    import('./signals.js'),
  ]);
  return withReader(options, async (reader: Reader) => {
    const { signal, release } = stopSignal();
    signal.addEventListener('abort', () => reader.engine.raw.interrupt());
    try {
      await writeAnswer(reader, await question(reader), sink);
      return reader.damaged;
    } finally {
      release();
    }
  });
}
