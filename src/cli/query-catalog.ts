import { type Analysis, analyses, findAnalysis } from '../analysis/catalog.js';
import { describe } from '../analysis/parameters.js';
import { formatJson } from './output.js';

const FOOT = `
Details:   indexhouse query --describe <name>
Run:       indexhouse query <name> [--param name=value]
Your SQL:  indexhouse query --sql "select …"
`;

/** The list of all analyses, or what is to be known of one, with its SQL. */
export function catalogText(name: string | undefined, json: boolean): string {
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
  return `${name}: ${title}\n\n${description}\nGives ${grain}.\n${taken}\n${statementOf(sql)}\n`;
}

/** Without its header, which stands above already. */
function statementOf(sql: string): string {
  const lines = sql.split('\n');
  return lines.slice(lines.findIndex((line) => !line.startsWith('--'))).join('\n');
}
