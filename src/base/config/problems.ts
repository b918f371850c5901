import type { z } from 'zod';
import { type ConfigDocument, type Path, pathText } from './document.js';
import type { ConfigProblem } from './errors.js';
import { allWebsites } from './google.js';
import { CHANNEL_KEYS } from './notify.js';
import type { Origins } from './overrides.js';
import { configSchema, priority, SECTIONS, type Section } from './schema.js';
import { nearest } from './suggest.js';
import { view } from './views.js';
import { website } from './website-entries.js';

/** Messages repeat a key only if it looks like one, because a token may be there by mistake. */
const PLAIN_KEY = /^[A-Za-z_][A-Za-z_-]{0,39}$/;

interface Source {
  document: ConfigDocument;
  origins: Origins;
}

/** What the schema refused, with places but no values, in the order of the file. Only the first problem of each path. */
export function problemsOf(error: z.ZodError, source: Source): ConfigProblem[] {
  const { document, origins } = source;
  const problems = document.problems.filter(({ path }) => !origins.has(path));
  const reported = new Set(problems.map(({ path }) => path));
  for (const issue of error.issues.flatMap((issue) => flatten(issue, []))) {
    const found = issue.code === 'unrecognized_keys' ? unknownKeys(issue, source) : [valueProblem(issue, source)];
    for (const problem of found) {
      if (reported.has(problem.path)) continue;
      reported.add(problem.path);
      problems.push(problem);
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

function unknownKeys(issue: z.core.$ZodIssueUnrecognizedKeys, { document }: Source): ConfigProblem[] {
  return issue.keys.map((key) => {
    const at = [...issue.path, key];
    const place = document.keys.get(pathText(at)) ?? { line: 1, column: 1 };
    const path = pathText([...issue.path, shownKey(key)]);
    return { file: document.file, ...place, path, message: 'is not a known key', remedy: suggestion(key, issue.path) };
  });
}

function shownKey(key: string): string {
  return PLAIN_KEY.test(key) ? key : '(some key)';
}

function suggestion(key: string, parent: Path): string {
  const known = knownKeys(parent);
  const near = nearest(key, known);
  if (near) return `Did you mean \`${near}\`?`;
  return `Remove it; known keys here: ${known.join(', ')}.`;
}

function knownKeys(parent: Path): string[] {
  const [section, key] = parent;
  if (section === 'reports' && key === 'priority') return Object.keys(priority.shape);
  if (section === 'notify' && key === 'channels') return CHANNEL_KEYS;
  if (section === undefined) return Object.keys(configSchema.shape);
  if (section === 'views') return Object.keys(view.shape);
  if (section === 'websites') return Object.keys(key === undefined ? allWebsites.shape : website.shape);
  return Object.keys(SECTIONS[section as Section].shape);
}

function valueProblem(issue: z.core.$ZodIssue, source: Source): ConfigProblem {
  const [message = '', remedy = 'Fix it.'] = issue.message.split('\n');
  const path = pathText(issue.path);
  const origin = source.origins.get(path);
  const place = origin === undefined ? placeOf(issue.path, source.document) : { line: null, column: null };
  const shown = pathText(issue.path.map((part) => (typeof part === 'string' ? shownKey(part) : part)));
  return { file: origin ?? source.document.file, ...place, path: shown, message, remedy };
}

/** The value's own place, or that of the nearest mapping that should contain it. */
function placeOf(path: Path, { values, keys }: ConfigDocument) {
  const own = values.get(pathText(path));
  for (let length = path.length; length > 0 && !own; length--) {
    const parent = keys.get(pathText(path.slice(0, length)));
    if (parent) return parent;
  }
  return own ?? { line: 1, column: 1 };
}
