import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { questionOf } from '../../../answers/query/ask-rows.js';
import { type Analysis, analyses, findAnalysis, QUESTIONS } from '../../../answers/query/catalog.js';
import type { OwnTable } from '../../../answers/query/own-pages.js';
import { describe } from '../../../answers/query/parameters.js';
import { whyNoRows } from '../../../answers/query/period-note.js';
import type { Reader } from '../../../answers/query/reader.js';
import { dataAgeOf } from '../../../answers/status/data-age.js';
import { UsageError } from '../../../base/exit.js';
import { counted, size } from '../../../base/observe/format.js';
import { safe } from '../../../base/observe/terminal.js';
import { configOf, readingOf, writeAge, writeNotes } from '../configured.js';
import { EXIT, type Io, type ReadFlags } from '../io.js';
import { formatJson } from '../output/output.js';
import { type Asked, answered, writeAnswer } from '../output/query-output.js';
import { checkOutside, checkSink, type SinkFlags, sinkOf } from '../output/sink.js';

const PARAMETER = /^(\w+)=([\s\S]*)$/;

const foot = (program: string) => `
Details:   ${program} query --describe <name>
Run:       ${program} query <name> [name=value]
Your SQL:  ${program} query --sql "select …"
`;

export interface Flags extends ReadFlags, SinkFlags {
  sql?: string;
  file?: string;
  columns?: string[];
  table?: string[];
  describe?: string;
}

/** `indexhouse query`: built-in or ad hoc SQL, read-only, over the Parquet files. */
export async function run(flags: Flags, io: Io, words: string[]): Promise<number> {
  const name = oneName(words);
  const given = parametersOf(words);
  const ways = [name, flags.sql, flags.file, flags.describe].filter((way) => way !== undefined);
  if (ways.length > 1) throw new UsageError('use one of: the name of an analysis, --sql, --file, --describe');
  if (ways.length === 0 || flags.describe !== undefined) {
    io.stdout.write(catalogText(flags.describe, flags.json === true, io));
    return EXIT.done;
  }
  if (flags.table && name !== undefined)
    throw new UsageError('--table is for --sql and --file: an analysis reads the warehouse alone');
  const tables = tablesOf(flags.table ?? [], io.cwd);
  const sink = sinkOf(flags, io);
  await checkSink(sink);
  const parameters = name === 'pages' ? await withView(given, flags, io) : given;
  const asked = await questionTo({ ...flags, name }, parameters, io.cwd);
  const options = await readingOf(flags, io);
  if (sink.out !== undefined) await checkOutside(options.warehouse, sink.out);
  await answered({ ...options, tables }, io, async (reader) => {
    const question = await asked(reader);
    const covered = await reader.newest(question.question.website ?? null);
    writeAge(await dataAgeOf(reader, covered, Date.now()), flags, io);
    const rows = await writeAnswer(reader, question, sink);
    const why = sink.out && rows === 0 && question.analysis ? await whyNoRows(reader, question.question) : [];
    if (sink.out !== undefined) await writeWritten(rows, why, flags, io);
    writeNotes(reader, io);
  });
  return EXIT.done;
}

/** Says on stderr what a file holds, unless `--log-level` asks for warnings only. */
async function writeWritten(rows: number, why: string[], { out = '', logLevel = 'info' }: Flags, { stderr, cwd }: Io) {
  if (!['trace', 'debug', 'info'].includes(logLevel)) return;
  const { size: bytes } = await stat(resolve(cwd, out));
  const written = `${rows === 0 ? 'no rows' : counted(rows, 'row')} to ${out} (${size(bytes)})`;
  for (const said of [written, ...why]) stderr.write(`${safe(`indexhouse: ${said}`)}\n`);
}

/** A word without `=` is the name; the others are parameters. */
function oneName(words: string[]): string | undefined {
  const [name, second] = words.filter((word) => !PARAMETER.test(word));
  if (second !== undefined) throw new UsageError('one analysis at a time; pass parameters as name=value');
  return name;
}

function parametersOf(texts: readonly string[]): Map<string, string> {
  const given = new Map<string, string>();
  for (const text of texts) {
    const [, name, value] = PARAMETER.exec(text) ?? [];
    if (name === undefined || value === undefined) continue;
    if (given.has(name)) throw new UsageError(`the parameter ${name} is given twice`);
    given.set(name, value);
  }
  return given;
}

/** The user's own files, by the names that they get. */
function tablesOf(texts: readonly string[], cwd: string): OwnTable[] {
  return texts.map((text) => {
    const [, name, file] = /^([^=]*)=(.+)$/s.exec(text) ?? [];
    if (name === undefined || file === undefined) throw new UsageError(`--table takes name=file (given: ${text})`);
    return { name, file: resolve(cwd, file) };
  });
}

/** The parameters of `pages`, with the filters of the view that they name. @throws UsageError for one that there is not */
async function withView(given: Map<string, string>, flags: Flags, io: Io): Promise<Map<string, string>> {
  const name = given.get('view');
  if (name === undefined) return given;
  const { views } = await configOf(flags, io, { withoutTokens: true });
  const view = views.find((one) => one.name === name);
  if (!view) {
    const names = views.map((one) => `"${one.name}"`).join(', ') || 'none';
    throw new UsageError(`pages: the configuration has no view "${name}"; its views: ${names}`);
  }
  const { q, ...filters } = view.pages;
  const asked = Object.entries({ ...filters, url_contains: q, website: view.website, ...Object.fromEntries(given) });
  return new Map(asked.flatMap(([key, value]) => (key === 'view' || value === undefined ? [] : [[key, value]])));
}

/** The user's question. The parameters of an analysis depend on the warehouse. */
async function questionTo(
  { name, sql, file, columns }: Flags & { name?: string | undefined },
  given: Map<string, string>,
  cwd: string,
): Promise<(reader: Reader) => Promise<Asked>> {
  if (name === undefined) {
    const text = sql ?? (await readSql(resolve(cwd, file ?? '')));
    const question = { name: file ?? '--sql', sql: text, parameters: Object.fromEntries(given), columns };
    return async () => ({ question, analysis: null, given });
  }
  const analysis = findAnalysis(name);
  return async (reader) => {
    const question = { ...(await questionOf(reader, analysis, given)), columns };
    return { question, analysis, given };
  };
}

async function readSql(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new UsageError(`cannot read ${file}: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}

/** The list of all analyses, or the details of one, with its SQL. */
function catalogText(name: string | undefined, json: boolean, { program }: Io): string {
  if (name === undefined) return json ? formatJson(analyses()) : `${catalog(analyses())}${foot(program)}`;
  const analysis = findAnalysis(name);
  return json ? formatJson(analysis) : details(analysis);
}

/** One line per analysis, grouped by question. */
function catalog(all: readonly Analysis[]): string {
  const longest = Math.max(...all.map(({ name }) => name.length));
  const groups = QUESTIONS.flatMap((question) => {
    const group = all.filter((analysis) => analysis.question === question);
    const lines = group.map(({ name, title }) => `  ${name.padEnd(longest)}  ${title}\n`);
    return lines.length > 0 ? [`${question}\n${lines.join('')}`] : [];
  });
  return groups.join('\n');
}

function details(analysis: Analysis): string {
  const { name, title, description, grain, parameters, shown, sql } = analysis;
  const lines = parameters.map((parameter) => `  ${describe(parameter)}\n`);
  const taken = lines.length > 0 ? `\nParameters:\n${lines.join('')}` : '';
  // Without its header, whose content is printed above.
  const statement = sql.slice(sql.search(/^(?!--)/m));
  const headings = shown.map(({ column, heading }) => (heading === column ? column : `${heading} (${column})`));
  return `${name}: ${title}\n\n${description}\nGives ${grain}.\n${taken}\nColumns of a table: ${headings.join(', ')}\n\n${statement}\n`;
}
