import { isAlias, isMap, isScalar, isSeq, LineCounter, type Pair, parseDocument, type YAMLMap } from 'yaml';
import { ConfigError, type ConfigProblem, fileError } from './errors.js';

/** An escaped `$${`, or a reference to the environment, closed or not. */
const REFERENCE = /\$\$\{|\$\{([^}]*)(\}?)/g;
const MAX_SYNTAX_PROBLEMS = 10;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Our own messages for the parser's errors, because its messages quote the text, which may be a token. */
const SYNTAX: Record<string, [message: string, remedy: string]> = {
  DUPLICATE_KEY: ['this key appears twice', 'Remove one of the two.'],
  TAB_AS_INDENT: ['this line is indented with a tab', 'Indent with spaces.'],
  BAD_INDENT: [
    'this line is not indented like its neighbors, or a bracket before it is not closed',
    'Indent it with the same number of spaces.',
  ],
  MISSING_CHAR: ['a quote, a bracket or a colon is missing here', 'Add it.'],
  MULTIPLE_DOCS: ['a second document starts here', 'Keep one document in the file: remove the `---`.'],
  BAD_ALIAS: ['there is a * without quotes', 'Put text that begins with * in quotes.'],
  TAG_RESOLVE_FAILED: ['this tag is unknown', 'Remove the word that starts with `!`.'],
};
const BROKEN: [message: string, remedy: string] = ['this is not valid YAML', 'Check colons, quotes and indentation.'];

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
  /** Paths of values that contain something from the environment. */
  fromEnvironment: Set<string>;
  /** References to the environment that failed, and anything that is not a plain value. */
  problems: ConfigProblem[];
}

/**
 * Reads YAML text and fills in `${NAME}` from the environment.
 *
 * @throws ConfigError if the text is not a YAML mapping; problems of single values are returned instead.
 */
export function readDocument(file: string, text: string, env: Environment): ConfigDocument {
  const lines = new LineCounter();
  const parsed = parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: false });
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const found = [...parsed.errors, ...parsed.warnings].map(({ code, pos }) => ({ code, place: placeAt(pos[0]) }));
  if (found.length > 0) throw brokenFile(file, found);
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
  return { file: '', value: {}, values: new Map(), keys: new Map(), fromEnvironment: new Set(), problems: [] };
}

/** One problem per line, and only a few, because most of what follows a mistake is a consequence of it. */
function brokenFile(file: string, found: { code: string; place: Place }[]): ConfigError {
  const first = found.filter(({ place }, at) => found.findIndex((other) => other.place.line === place.line) === at);
  return new ConfigError(
    first.slice(0, MAX_SYNTAX_PROBLEMS).map(({ code, place }) => {
      const [message, remedy] = SYNTAX[code] ?? BROKEN;
      return { file, ...place, path: '', message, remedy };
    }),
  );
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
  const name = isScalar(key) ? String(key.value) : '';
  const at = [...path, name];
  const place = walk.placeAt(offsetOf(key));
  walk.document.keys.set(pathText(at), place);
  if (!isScalar(key)) report(walk, path, place, 'a key here is not plain text', 'Write keys as plain words.');
  return [name, plain(value, at, walk, place)];
}

function plain(node: unknown, path: Path, walk: Walk, fallback: Place): unknown {
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
    walk.document.fromEnvironment.add(pathText(path));
    const value = NAME.test(name) && end !== '' ? walk.env[name] : undefined;
    if (value === undefined || value === '') missing = true;
    if (!NAME.test(name) || end === '') report(walk, path, place, ...MALFORMED);
    else if (value === undefined || value === '') report(walk, path, place, ...unset(name, value));
    return value ?? '';
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
