import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { messageOf } from '../exit.js';
import { codeOf, readNamed } from '../storage/durable.js';
import { type ConfigDocument, type Environment, emptyDocument, type Path, pathText, readDocument } from './document.js';
import { ConfigError, type ConfigProblem, fileError } from './errors.js';
import { type Config, configSchema, SECTION_NAMES } from './schema.js';

const DEFAULT_FILE = 'indexhouse.yaml';
const FILE_VARIABLE = 'INDEXHOUSE_CONFIG';

/** Variables set secrets, paths and addresses: what differs from machine to machine. */
const VARIABLES: Readonly<Record<string, Place>> = {
  INDEXHOUSE_API_BASE_URL: ['api', 'base_url'],
  INDEXHOUSE_API_TOKEN: ['api', 'token'],
  INDEXHOUSE_GOOGLE_CREDENTIALS: ['google', 'credentials'],
  INDEXHOUSE_GOOGLE_ENDPOINT: ['google', 'endpoint'],
  INDEXHOUSE_WAREHOUSE_PATH: ['warehouse', 'path'],
  INDEXHOUSE_BUCKET: ['bucket'],
  INDEXHOUSE_SERVICE_HOST: ['service', 'host'],
  INDEXHOUSE_SERVICE_PORT: ['service', 'port'],
};

type Place = readonly [section: string, key?: string];
type Scalar = string | number;

/** Values of flags, by section and key; undefined ones override nothing. */
export type Overrides = Readonly<Record<string, Readonly<Record<string, Scalar | undefined>>>>;

export interface LoadOptions {
  /** The file as given on the command line; else `INDEXHOUSE_CONFIG`, else `indexhouse.yaml`. */
  file?: string | undefined;
  env: Environment;
  /** Folder that a relative path is resolved against. */
  cwd: string;
  /** Values of flags, which win over everything. */
  overrides?: Overrides | undefined;
  /** For commands that send no request or notice: does not read tokens and channels, whose variables may be unset. */
  withoutTokens?: boolean | undefined;
}

const NO_TOKEN = 'none';
const CHECK_PATH = 'Check the path, and that this user may read the file.';

/**
 * Reads and checks the configuration: flags > environment (`VARIABLES`) > file > defaults.
 *
 * @returns times in milliseconds, sizes in bytes, `unlimited` as Infinity, paths absolute.
 * @throws ConfigError with everything that is wrong, each with its place and remedy.
 */
export async function loadConfig({ file, env, cwd, overrides = {}, withoutTokens }: LoadOptions): Promise<Config> {
  const path = configFile({ file, env, cwd });
  const document = readDocument(path, await readText(path), env);
  const { value } = document;
  // A section whose keys are all commented out counts as left out.
  for (const name of SECTION_NAMES) if (value[name] === null) value[name] = {};
  if (withoutTokens) leaveTokensOut(document);
  else for (const [path, section] of tokenSections(document)) readTokenFile(document, `${path}.token.file`, section);
  const origins = override(document, env, overrides);
  const parsed = configSchema.safeParse(value);
  const unresolved = document.problems.filter((problem) => !origins.has(problem.path));
  if (!parsed.success) throw new ConfigError(problemsOf(parsed.error, document, origins));
  if (unresolved.length > 0) throw new ConfigError(unresolved);
  const config = parsed.data;
  const { pages_from: own, google } = config;
  return {
    ...config,
    google: googleResolved(google, dirname(path)),
    warehouse: { ...config.warehouse, path: resolve(dirname(path), config.warehouse.path) },
    pages_from: own && resolve(dirname(path), own),
    file: path,
    hasSchedule: Object.hasOwn(value, 'schedule'),
  };
}

const withoutFile = z.object({
  warehouse: configSchema.shape.warehouse,
  service: configSchema.shape.service,
  google: configSchema.shape.google,
});

/**
 * The settings of readers and `serve` if no file is read: flags > environment > defaults.
 *
 * @throws ConfigError
 */
export function settingsWithoutFile(
  { env, cwd }: Pick<LoadOptions, 'env' | 'cwd'>,
  overrides: Overrides,
): Pick<Config, 'warehouse' | 'service' | 'google'> {
  const document = emptyDocument();
  const origins = override(document, env, overrides);
  const parsed = withoutFile.safeParse(document.value);
  if (!parsed.success) throw new ConfigError(problemsOf(parsed.error, document, origins));
  const { warehouse, google } = parsed.data;
  const path = resolve(cwd, warehouse.path);
  return { ...parsed.data, warehouse: { ...warehouse, path }, google: googleResolved(google, cwd) };
}

function googleResolved({ accounts, ...google }: Config['google'], from: string): Config['google'] {
  const withPath = <T extends { credentials?: string | undefined }>(one: T): T => {
    return { ...one, credentials: one.credentials && resolve(from, one.credentials) };
  };
  const named = Object.entries(accounts).map(([name, account]) => [name, withPath(account)]);
  return { ...withPath(google), accounts: Object.fromEntries(named) };
}

/** Absolute path of the configuration: the flag, else `INDEXHOUSE_CONFIG`, else `indexhouse.yaml` in `cwd`. */
export function configFile({ file, env, cwd }: Pick<LoadOptions, 'file' | 'env' | 'cwd'>): string {
  return resolve(cwd, file || env[FILE_VARIABLE] || DEFAULT_FILE);
}

/** Removes tokens and channels from what was read, together with the problem that a variable is not set. */
function leaveTokensOut(document: ConfigDocument): void {
  for (const [path, section] of tokenSections(document)) {
    if (path === 'api' || 'token' in section) section['token'] = NO_TOKEN;
  }
  const { notify } = document.value;
  if (isMapping(notify)) delete notify['channels'];
  document.problems = document.problems.filter(
    ({ path }) => !/^((api|websites\[\d+\])\.token\b|google\.credentials$|notify\.channels\b)/.test(path),
  );
}

/** Fills in a token from a file of its own, as Docker and Kubernetes mount them. @param path of the key that names it */
function readTokenFile(document: ConfigDocument, path: string, section: Record<string, unknown>): void {
  const named = isMapping(section['token']) ? section['token']['file'] : null;
  if (typeof named !== 'string') return;
  try {
    section['token'] = readNamed(resolve(dirname(document.file), named)).trim();
  } catch (error) {
    const place = document.values.get(path) ?? { line: null, column: null };
    const message = messageOf(error);
    document.problems.push({ file: document.file, ...place, path, message, remedy: CHECK_PATH });
  }
}

/** `api` and the websites of a list, by their paths. */
function tokenSections({ value: { api, websites } }: ConfigDocument): [path: string, Record<string, unknown>][] {
  const listed = Array.isArray(websites) ? websites.map((one, at) => [`websites[${at}]`, one] as const) : [];
  const sections = [['api', api] as const, ...listed];
  return sections.flatMap(([path, section]) => (isMapping(section) ? [[path, section]] : []));
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

async function readText(file: string): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file));
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT')
      throw fileError(file, 'there is no such file', 'Run `indexhouse init` to write one, or name it with --config.');
    if (error instanceof TypeError) throw fileError(file, 'the file is not UTF-8 text', 'Save it as UTF-8.');
    throw fileError(file, `the file cannot be read (${code || 'unknown error'})`, CHECK_PATH);
  }
}

/**
 * Overrides the file's values in place, by the environment and then by the flags. Empty variables do not count.
 *
 * @returns the origins of these values: path → `command line` or `environment NAME`
 */
function override({ value }: ConfigDocument, env: Environment, flags: Overrides): Map<string, string> {
  const origins = new Map<string, string>();
  const set = ([section, key]: Place, given: Scalar | undefined, origin: string) => {
    const own = value[section] ?? {};
    if (given === undefined || given === '' || (key !== undefined && (typeof own !== 'object' || Array.isArray(own))))
      return;
    origins.set(key === undefined ? section : `${section}.${key}`, origin);
    value[section] = key === undefined ? given : { ...own, [key]: key === 'port' ? numberIn(given) : given };
  };
  for (const [name, place] of Object.entries(VARIABLES)) set(place, env[name], `environment ${name}`);
  for (const [section, keys] of Object.entries(flags)) {
    for (const [key, given] of Object.entries(keys)) set([section, key], given, 'command line');
  }
  return origins;
}

function numberIn(given: Scalar): Scalar {
  return /^\d+$/.test(`${given}`) ? Number(given) : given;
}

/** Messages repeat a key only if it looks like one, because a token may be there by mistake. */
const PLAIN_KEY = /^[A-Za-z_][A-Za-z_-]{0,39}$/;
const HIDDEN = '(some key)';

/**
 * What the schema refused, with places but no values, in the order of the file. Only the first problem of each path.
 *
 * @param origins of values that are not from the file, by path
 */
function problemsOf(
  error: z.ZodError,
  document: ConfigDocument,
  origins: ReadonlyMap<string, string>,
): ConfigProblem[] {
  const problems = document.problems.filter(({ path }) => !origins.has(path));
  const reported = new Set(problems.map(({ path }) => path));
  for (const issue of error.issues.flatMap((issue) => flatten(issue, []))) {
    const isKey = issue.code === 'unrecognized_keys';
    const [message = '', ...remedies] = issue.message.split('\n');
    const paths = isKey ? issue.keys.map((key) => [...issue.path, key]) : [issue.path];
    for (const [at, whole] of paths.entries()) {
      const path = pathText(whole.map((part) => (typeof part === 'string' && !PLAIN_KEY.test(part) ? HIDDEN : part)));
      if (reported.has(path)) continue;
      reported.add(path);
      const origin = origins.get(pathText(whole));
      const place = origin === undefined ? placeOf(whole, document, isKey) : { line: null, column: null };
      const remedy = remedies[at] ?? 'Fix it.';
      problems.push({ file: origin ?? document.file, ...place, path, message, remedy });
    }
  }
  return problems.sort((one, other) => (one.line ?? 0) - (other.line ?? 0));
}

/** Of a union's failed branches, the one that got furthest is probably the one that was meant. */
function flatten(issue: z.core.$ZodIssue, base: Path): z.core.$ZodIssue[] {
  const path = [...base, ...issue.path];
  if (issue.code === 'invalid_key') return issue.issues.map((inner) => ({ ...inner, path }));
  if (issue.code !== 'invalid_union') return [{ ...issue, path }];
  const depth = (issues: readonly z.core.$ZodIssue[]) => Math.max(0, ...issues.map((inner) => inner.path.length));
  const deepest = issue.errors.reduce((best, branch) => (depth(branch) > depth(best) ? branch : best), []);
  return deepest.length === 0 ? [{ ...issue, path }] : deepest.flatMap((inner) => flatten(inner, path));
}

/** The place of a value or of its key, or that of the nearest mapping that should contain it. */
function placeOf(path: Path, { values, keys }: ConfigDocument, isKey: boolean) {
  const own = isKey ? undefined : values.get(pathText(path));
  for (let length = path.length; length > 0 && !own; length--) {
    const parent = keys.get(pathText(path.slice(0, length)));
    if (parent) return parent;
  }
  return own ?? { line: 1, column: 1 };
}
