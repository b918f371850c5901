import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const texts = new Map<string, string>();

/** The folder of this package. The sources run from `src`, the built program from `dist/src`. */
export function packageFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return folder;
}

/** The text of one statement in `sql/`, by its name without `.sql`: `sync/stage/coverage`. Without a closing semicolon. */
export function sql(name: string): string {
  const known = texts.get(name);
  if (known !== undefined) return known;
  const text = readFileSync(join(packageFolder(), 'sql', `${name}.sql`), 'utf8')
    .trim()
    .replace(/;$/, '');
  texts.set(name, text);
  return text;
}

/** A script of statements in `sql/`, which DuckDB runs one after the other. */
export function sqlScript(names: readonly string[]): string {
  return names.map(sql).join(';\n');
}

/** The names of the statements in a folder of `sql/`, in order. */
export function sqlNames(folder: string): string[] {
  const files = readdirSync(join(packageFolder(), 'sql', folder)).filter((file) => file.endsWith('.sql'));
  return files.sort().map((file) => `${folder}/${file.slice(0, -'.sql'.length)}`);
}

/** A text as an SQL literal, for the few places that take no bound parameter. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A name as an SQL identifier. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
