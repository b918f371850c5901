import { basename } from 'node:path';
import { nearest } from '../config/suggest.js';
import { sql, sqlNames } from '../storage/sql.js';
import { QuestionError } from './errors.js';
import { isValueOf, PARAMETER_TYPES, type Parameter, type ParameterType } from './parameters.js';

const KEY = /^(title|description|grain): *(.*)$/;
const PARAMETER = /^param +(\w+) +\((\w+)(?:, *(required|default +(.+?)))?\): *(.*)$/;

/** A ready-made question, as its file in `sql/analyses` describes it. */
export interface Analysis {
  /** The file's name without `.sql`. */
  name: string;
  title: string;
  description: string;
  /** What one row of the answer stands for. */
  grain: string;
  parameters: Parameter[];
  sql: string;
}

/** All ready-made analyses, by name. @throws Error where a header is wrong, naming the file and the line */
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

/** Reads the header comment of an analysis, and checks that it declares the parameters that the statement uses. */
export function parseAnalysis(name: string, text: string): Analysis {
  const found: Record<string, string> = {};
  const parameters: Parameter[] = [];
  const lines = text.split('\n');
  const end = lines.findIndex((line) => !line.startsWith('--'));
  for (const [index, line] of lines.slice(0, end < 0 ? lines.length : end).entries()) {
    const at = `sql/analyses/${name}.sql:${index + 1}`;
    const content = line.slice(2).trim();
    const [, key, value] = KEY.exec(content) ?? [];
    if (key !== undefined && value !== undefined) {
      if (Object.hasOwn(found, key)) throw new Error(`${at}: a second ${key}`);
      found[key] = value;
    } else parameters.push(parseParameter(content, at, parameters));
  }
  const field = (key: string) => found[key] || missing(name, key);
  const analysis = { name, title: field('title'), description: field('description'), grain: field('grain') };
  checkUse(name, text, parameters);
  return { ...analysis, parameters, sql: text };
}

function parseParameter(content: string, at: string, before: readonly Parameter[]): Parameter {
  const [, name, type, , written, description] = PARAMETER.exec(content) ?? [];
  if (name === undefined || type === undefined || description === undefined) {
    throw new Error(`${at}: neither title, description, grain nor "param name (type, default …): …": ${content}`);
  }
  if (!isParameterType(type)) throw new Error(`${at}: ${type} is none of ${PARAMETER_TYPES.join(', ')}`);
  if (before.some((parameter) => parameter.name === name)) throw new Error(`${at}: a second parameter ${name}`);
  const parameter: Parameter = { name, type, default: written ?? null, description };
  if (written !== undefined && !isValueOf(parameter, written)) {
    throw new Error(`${at}: the default of ${name}, ${written}, is not of type ${type}`);
  }
  return parameter;
}

function isParameterType(text: string): text is ParameterType {
  return PARAMETER_TYPES.some((type) => type === text);
}

function missing(name: string, key: string): never {
  throw new Error(`sql/analyses/${name}.sql: its header has no ${key}`);
}

/** A parameter that is declared but not used would be refused by the engine, and the other way round. */
function checkUse(name: string, text: string, parameters: readonly Parameter[]): void {
  const statement = text.replaceAll(/--.*$/gm, '');
  const used = new Set([...statement.matchAll(/\$(\w+)/g)].map(([, used]) => used));
  const declared = new Set<string | undefined>(parameters.map((parameter) => parameter.name));
  const stray = [...used, ...declared].find((one) => used.has(one) !== declared.has(one));
  if (stray !== undefined) {
    const wrong = declared.has(stray) ? 'is declared but not used' : 'is used but not declared';
    throw new Error(`sql/analyses/${name}.sql: the parameter ${stray} ${wrong}`);
  }
}
