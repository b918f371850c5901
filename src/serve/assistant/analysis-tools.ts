import { z } from 'zod';
import { questionOf } from '../../answers/query/ask-rows.js';
import { type Analysis, analyses, analysisSchema, findAnalysis, QUESTIONS } from '../../answers/query/catalog.js';
import { type Parameter, parameterSchema } from '../../answers/query/parameters.js';
import { periodNote, whyNoRows } from '../../answers/query/period-note.js';
import { DEFAULT_ROWS, MOST_ROWS, readRows, rowsOutput, rowsSchema, rowsText, text, windowInput } from './rows.js';
import { runSql, SQL_MEMORY_BYTES, TIME_LIMIT_MS } from './run-sql.js';
import { type Tool, toolOf } from './tool.js';

/** Ends the description of each tool that returns rows. */
const WINDOW_TEXT = `Returns ${DEFAULT_ROWS} rows unless \`limit\` says otherwise (at most ${MOST_ROWS}); \`total\` counts all, and \`next_offset\` is the \`offset\` of the next ones.`;
const names = analyses().map(({ name }) => name);
const scalar = z.union([text(), z.number(), z.boolean()]);

const answerOutput = z.object({
  analysis: z.string(),
  grain: z.string().describe('What one row stands for.'),
  parameters: z.record(z.string(), scalar.nullable()).describe('As they were used; null: no restriction.'),
  ...rowsOutput,
  notes: z.array(z.string()).describe('Why there are no rows, if a filter is the reason.'),
});

/** Tools have a limit of their own. */
function isLimit({ name }: Parameter): boolean {
  return name === 'limit';
}

function ownParameters({ parameters }: Analysis): Parameter[] {
  return parameters.filter((parameter) => !isLimit(parameter));
}

const listTool = toolOf({
  name: 'list_analyses',
  title: 'List the analyses',
  description: `The built-in analyses, grouped by the question that they answer, with the names of their parameters. With \`name\`: what that one counts, its grain, and type, default and meaning of each parameter. Read it before run_analysis. Its \`basis\` also names the websites and the dates that there are. Example: {"name": "deindexed_pages"}`,
  input: z.strictObject({ name: z.enum(names).optional().describe('Only this analysis, in full.') }),
  output: z.object({
    analyses: z.array(
      analysisSchema.pick({ name: true, title: true, question: true }).extend({ parameters: z.array(z.string()) }),
    ),
    details: analysisSchema
      .pick({ description: true, grain: true })
      .extend({
        parameters: z.array(parameterSchema.extend({ required: z.boolean() })),
        columns: analysisSchema.shape.shown,
      })
      .nullable()
      .describe('Of the analysis that was asked for. `columns` are the main ones: rows have more.'),
  }),
  answer: async (_reader, { name }) => {
    const shown = QUESTIONS.flatMap((question) => analyses().filter((analysis) => analysis.question === question));
    const chosen = shown.filter((analysis) => name === undefined || analysis.name === name);
    const content = {
      analyses: chosen.map(briefly),
      details: name === undefined ? null : detailsOf(findAnalysis(name)),
    };
    return { content, text: `${chosen.length} of ${shown.length} analyses.` };
  },
});

function briefly(analysis: Analysis) {
  const { name, title, question } = analysis;
  return { name, title, question, parameters: ownParameters(analysis).map((parameter) => parameter.name) };
}

function detailsOf(analysis: Analysis) {
  const { description, grain, shown } = analysis;
  const parameters = ownParameters(analysis).map((each) => ({ ...each, required: each.default === null }));
  return { description, grain, parameters, columns: shown };
}

const runTool = toolOf({
  name: 'run_analysis',
  title: 'Run an analysis',
  description: `Runs one of the built-in analyses that list_analyses names: compare (two dates or directories side by side), events (nights that broke the trend) and many more. They count pages of a website per night (snapshot), and shares are from 0 to 1. Dates are snapshot dates: \`2026-11-01\`, \`today\`, \`yesterday\` or \`6 days ago\`, counted from the newest snapshot; both ends of a period are included. \`website\` takes an id or a name; left out, all websites are answered for. ${WINDOW_TEXT} Example: {"name": "deindexed_pages", "parameters": {"since": "6 days ago", "directory": "/blog/"}}`,
  input: z.strictObject({
    name: z.enum(names),
    parameters: z.record(z.string(), scalar).default({}).describe('By their names; those left out have their default.'),
    ...windowInput,
  }),
  output: answerOutput,
  answer: async (reader, { name, parameters: given, ...window }) => {
    const analysis = findAnalysis(name);
    const texts = new Map(Object.entries(given).map(([key, value]) => [key, String(value)]));
    // The window replaces it.
    if (analysis.parameters.some(isLimit)) texts.set('limit', 'none');
    const question = await questionOf(reader, analysis, texts);
    const { limit: _, ...parameters } = question.parameters;
    const rows = await readRows(reader, question, window);
    const notes = rows.total === 0 ? await whyNoRows(reader, question) : [];
    const content = { analysis: name, grain: analysis.grain, parameters, ...rows, notes };
    const period = await periodNote(reader, question);
    return { content, text: rowsText(rows), website: question.website ?? null, period };
  },
});

export const analysisTools: readonly Tool[] = [listTool, runTool];

const MOST_SQL_CHARACTERS = 20_000;

export const sqlTool = toolOf({
  name: 'query_sql',
  title: 'Query with SQL',
  description: `Runs one read-only SQL statement (DuckDB's dialect) for what no analysis answers. Views: \`pages\` (one row per page: its state now), \`coverage_daily\` (one row per page and date), \`daily_listings\`, \`page_history\` (one row per page and period without a change), \`page_changes\`, \`coverage_summary\` (pages counted per snapshot, directory and state), \`notes\` (what people did on a date), \`quarantine\`, \`api_drift\`. Tables: \`snapshots\`, \`runs\`, \`coverage\`, \`url_reports\`, \`page_versions\` and others. \`show tables\` and \`describe pages\` list them and their columns. Texts of the service stay as they are (\`index_summary\` is \`Indexed\` or \`Not Indexed\`); times are TIMESTAMPTZ in UTC. Files, settings, extensions, other databases and writing are refused. Limits: ${TIME_LIMIT_MS / 1000} seconds, ${SQL_MEMORY_BYTES / 1e6} MB. ${WINDOW_TEXT} Use \`order by\` if you want more than one window of them. Example: {"sql": "select index_coverage_state, count(*) as pages from pages where is_listed group by all order by pages desc"}`,
  input: z.strictObject({
    sql: z.string().min(1).max(MOST_SQL_CHARACTERS).describe('One SELECT, WITH, FROM, DESCRIBE, SHOW or SUMMARIZE.'),
    ...windowInput,
  }),
  output: rowsSchema,
  kind: 'sql',
  answer: async (_reader, input, { warehouse, websites }, signal) => {
    const rows = await runSql({ warehouse, websites, ...input }, signal);
    return { content: rows, text: rowsText(rows) };
  },
});
