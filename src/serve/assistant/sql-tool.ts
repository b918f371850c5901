import { z } from 'zod';
import { WINDOW_TEXT } from './analysis-tools.js';
import { rowsSchema, rowsText, windowInput } from './rows.js';
import { runSql, SQL_MEMORY_BYTES, TIME_LIMIT_MS } from './run-sql.js';
import { toolOf } from './tool.js';

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
  answer: async (_reader, input, { warehouse, websites }, signal) => {
    const rows = await runSql({ warehouse, websites, ...input }, signal);
    return { content: rows, text: rowsText(rows) };
  },
});
