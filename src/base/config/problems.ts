import type { z } from 'zod';
import { type ConfigDocument, type Path, pathText } from './document.js';
import type { ConfigProblem } from './errors.js';

/** Messages repeat a key only if it looks like one, because a token may be there by mistake. */
const PLAIN_KEY = /^[A-Za-z_][A-Za-z_-]{0,39}$/;
const HIDDEN = '(some key)';

/**
 * What the schema refused, with places but no values, in the order of the file. Only the first problem of each path.
 *
 * @param origins of values that are not from the file, by path
 */
export function problemsOf(
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
