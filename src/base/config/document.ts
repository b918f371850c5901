import type { Pair, YAMLMap } from 'yaml';
import { yaml } from '../yaml.js';
import { type ConfigProblem, fileError } from './errors.js';

/** An escaped `$${`, or a reference to the environment, closed or not. */
const REFERENCE = /\$\$\{|\$\{([^}]*)(\}?)/g;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

export type Path = readonly PropertyKey[];
export type Environment = Readonly<Record<string, string | undefined>>;

export interface Place {
  line: number;
  column: number;
}

/** A YAML file as plain values, with what error messages need about each. Paths are as `pathText` writes them. */
export interface ConfigDocument {
  file: string;
  value: Record<string, unknown>;
  values: Map<string, Place>;
  keys: Map<string, Place>;
  /** References to the environment that failed, and anything that is not a plain value. */
  problems: ConfigProblem[];
}

/**
 * Reads YAML text and fills in `${NAME}` from the environment.
 *
 * @throws ConfigError if the text is not a YAML mapping; problems of single values are returned instead.
 */
export function readDocument(file: string, text: string, env: Environment): ConfigDocument {
  const { isMap, isScalar, LineCounter, parseDocument } = yaml();
  const lines = new LineCounter();
  const parsed = parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: false });
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  // The parser's own messages quote the text, which may be a token; what follows a mistake is mostly its consequence.
  const [broken] = [...parsed.errors, ...parsed.warnings].sort((one, other) => one.pos[0] - other.pos[0]);
  if (broken) {
    const remedy = 'Check this line: a key twice, indentation by tabs, or a colon, quote or bracket that is missing.';
    throw fileError(file, 'this is not valid YAML', remedy, placeAt(broken.pos[0]));
  }
  const { contents } = parsed;
  if (contents === null || (isScalar(contents) && contents.value === null))
    throw fileError(file, 'the file is empty', 'Remove it and run `indexhouse init` to get an example.');
  if (!isMap(contents)) {
    const remedy = 'Write keys such as `api:` and `websites:`; `indexhouse init` writes an example.';
    throw fileError(file, 'the file is not a mapping of keys', remedy, placeAt(offsetOf(contents)));
  }
  const document: ConfigDocument = { ...emptyDocument(), file };
  document.value = plainMap(contents, [], { document, env, placeAt });
  return document;
}

/** A document without a file and without keys. */
export function emptyDocument(): ConfigDocument {
  return { file: '', value: {}, values: new Map(), keys: new Map(), problems: [] };
}

interface Walk {
  document: ConfigDocument;
  env: Environment;
  placeAt: (offset: number) => Place;
}

function plainMap(map: YAMLMap, path: Path, walk: Walk): Record<string, unknown> {
  // fromEntries, not assignment: a key named __proto__ must end up as an unknown key.
  return Object.fromEntries(map.items.map((pair) => plainPair(pair, path, walk)));
}

function plainPair({ key, value }: Pair, path: Path, walk: Walk): [string, unknown] {
  const { isScalar } = yaml();
  const name = isScalar(key) ? String(key.value) : '';
  const at = [...path, name];
  const place = walk.placeAt(offsetOf(key));
  walk.document.keys.set(pathText(at), place);
  if (!isScalar(key)) report(walk, path, place, 'a key here is not plain text', 'Write keys as plain words.');
  return [name, plain(value, at, walk, place)];
}

function plain(node: unknown, path: Path, walk: Walk, fallback: Place): unknown {
  const { isAlias, isMap, isScalar, isSeq } = yaml();
  const offset = offsetOf(node);
  const place = offset < 0 ? fallback : walk.placeAt(offset);
  walk.document.values.set(pathText(path), place);
  if (isMap(node)) return plainMap(node, path, walk);
  if (isSeq(node)) return node.items.map((item, index) => plain(item, [...path, index], walk, place));
  if (isAlias(node))
    return report(walk, path, place, 'is an alias', 'Write the value itself, in quotes if it begins with *.');
  const value = isScalar(node) ? node.value : null;
  return typeof value === 'string' ? filledIn(value, path, walk, place) : value;
}

function filledIn(text: string, path: Path, walk: Walk, place: Place): string | undefined {
  let missing = false;
  const filled = text.replace(REFERENCE, (all: string, name: string | undefined, end: string) => {
    if (name === undefined) return all.slice(1);
    const isName = NAME.test(name) && end !== '';
    const value = isName ? walk.env[name] : undefined;
    if (value) return value;
    missing = true;
    if (isName) report(walk, path, place, ...unset(name, value));
    else report(walk, path, place, ...MALFORMED);
    return '';
  });
  return missing ? undefined : filled;
}

const MALFORMED = [
  `holds a \${ that is not followed by the name of a variable and a }`,
  `Write \${NAME}, or $\${ for a literal dollar and brace.`,
] as const;

function unset(name: string, value: string | undefined) {
  const message = `reads the environment variable ${name}, which is ${value === undefined ? 'not set' : 'empty'}`;
  return [message, `Set it: export ${name}=…`] as const;
}

function report({ document }: Walk, path: Path, place: Place, message: string, remedy: string): undefined {
  document.problems.push({ file: document.file, ...place, path: pathText(path), message, remedy });
}

function offsetOf(node: unknown): number {
  const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : null;
  return Array.isArray(range) ? Number(range[0]) : -1;
}

/** `['websites', 0, 'id']` → `websites[0].id`. */
export function pathText(path: Path): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '');
}
