import { basename } from 'node:path';
import { z } from 'zod';
import { nearest } from '../config/suggest.js';
import { sql, sqlNames } from '../storage/sql.js';
import { QuestionError } from './errors.js';
import { PARAMETER_TYPES } from './parameters.js';

/** The lines of an analysis's header. */
const FIELD = /^-- (title|description|grain): *(.*)$/gm;
const PARAMETER = /^-- param +(\w+) +\((\w+)(?:, *(?:required|default +(.+?)))?\): *(.*)$/gm;

const filled = z.string().min(1);
const analysisSchema = z.object({
  /** The file's name without `.sql`. */
  name: filled,
  title: filled,
  description: filled,
  /** What one row of the answer stands for. */
  grain: filled,
  parameters: z.array(
    z.object({ name: filled, type: z.enum(PARAMETER_TYPES), default: z.string().nullable(), description: filled }),
  ),
  sql: filled,
});
/** A ready-made question, as its file in `sql/analyses` describes it. */
export type Analysis = z.infer<typeof analysisSchema>;

/** All ready-made analyses, by name. */
export function analyses(): Analysis[] {
  return sqlNames('analyses').map((name) => parseAnalysis(basename(name), sql(name)));
}

/** @throws QuestionError for a name that does not exist, listing those that do */
export function findAnalysis(name: string): Analysis {
  const known = sqlNames('analyses').map((path) => basename(path));
  if (known.includes(name)) return parseAnalysis(name, sql(`analyses/${name}`));
  const meant = nearest(name, known);
  const list = analyses().map((analysis) => `  ${analysis.name}: ${analysis.title}`);
  throw new QuestionError(
    `there is no analysis "${name}"${meant ? `. Did you mean "${meant}"?` : '.'} There are:\n${list.join('\n')}`,
  );
}

/** Reads the header comment of an analysis. @throws ZodError where it lacks something */
export function parseAnalysis(name: string, text: string): Analysis {
  const header = text.slice(0, text.search(/^(?!--)/m));
  const fields = Object.fromEntries([...header.matchAll(FIELD)].map(([, key = '', value]) => [key, value]));
  const parameters = [...header.matchAll(PARAMETER)].map(([, parameter, type, preset = null, description]) => {
    return { name: parameter, type, default: preset, description };
  });
  return analysisSchema.parse({ name, ...fields, parameters, sql: text });
}
