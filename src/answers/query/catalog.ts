import { basename } from 'node:path';
import { z } from 'zod';
import { nearest } from '../../base/config/suggest.js';
import { UsageError } from '../../base/exit.js';
import { sql, sqlNames } from '../../base/storage/sql.js';
import { parameterSchema } from './parameters.js';

/** The lines of an analysis's header. */
const FIELD = /^-- (title|description|question|grain): *(.*)$/gm;
const PARAMETER = /^-- param +(\w+) +\((\w+)(?:, *(?:required|default +(.+?)))?\): *(.*)$/gm;
const SHOW = /^-- show +(\w+) +\((\w+)\): *(.*)$/gm;
/** What every analysis of websites takes and shows first. */
const WEBSITE = `-- param website (text, default all): id or name of one website
-- show website_id (website): website\n`;

/** The questions by which analyses are grouped, in the order of the list. */
export const QUESTIONS = [
  'What fell out?',
  'Is it growing?',
  'Why are pages not indexed?',
  'What changed?',
  'Canonicals',
  'Crawling',
  'Sitemaps',
  'What does search show?',
  'The service and the data',
] as const;

/** How people read the values of a column. `website`: its id, shown as its name; `url` may be a list of them. */
export const KINDS = ['website', 'url', 'text', 'date', 'time', 'count', 'number', 'change', 'share', 'flag'] as const;
export type Kind = (typeof KINDS)[number];

const filled = z.string().min(1);
export const analysisSchema = z.object({
  /** The file's name without `.sql`. */
  name: filled,
  title: filled,
  description: filled,
  /** The group that it is listed in. */
  question: z.enum(QUESTIONS),
  /** What one row of the answer represents. */
  grain: filled,
  parameters: z.array(parameterSchema),
  /** The columns of tables for people, in their order. Other formats have all columns of the statement. */
  shown: z.array(z.object({ column: filled, kind: z.enum(KINDS), heading: filled })).nonempty(),
  sql: filled,
});
/** A built-in analysis, as its file in `sql/answers/analyses` describes it. */
export type Analysis = z.infer<typeof analysisSchema>;

/** All built-in analyses, by name. */
export function analyses(): Analysis[] {
  return sqlNames('answers/analyses').map((name) => parseAnalysis(basename(name), sql(name)));
}

/** @throws UsageError for a name that does not exist, listing those that do */
export function findAnalysis(name: string): Analysis {
  const known = sqlNames('answers/analyses').map((path) => basename(path));
  if (known.includes(name)) return parseAnalysis(name, sql(`answers/analyses/${name}`));
  const meant = nearest(name, known);
  const list = analyses().map((analysis) => `  ${analysis.name}: ${analysis.title}`);
  throw new UsageError(
    `there is no analysis "${name}"${meant ? `. Did you mean "${meant}"?` : '.'} There are:\n${list.join('\n')}`,
  );
}

/** Reads the header comment of an analysis. @throws ZodError if something is missing */
export function parseAnalysis(name: string, text: string): Analysis {
  const own = text.slice(0, text.search(/^(?!--)/m));
  const header = `${text.includes('$website') ? WEBSITE : ''}${own}`;
  const fields = Object.fromEntries([...header.matchAll(FIELD)].map(([, key = '', value]) => [key, value]));
  const parameters = [...header.matchAll(PARAMETER)].map(([, parameter, type, preset = null, description]) => {
    return { name: parameter, type, default: preset, description };
  });
  const shown = [...header.matchAll(SHOW)].map(([, column, kind, heading]) => ({ column, kind, heading }));
  return analysisSchema.parse({ name, ...fields, parameters, shown, sql: text });
}
