import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CACHE } from '../given/packages.js';

/** Each set is installed into a folder of its own. */
const PACKAGES = {
  pyiceberg: ['pyarrow==26.0.1', 'pyiceberg==0.12.0', 'sqlalchemy==2.1.9'],
  /** The engine of ClickHouse 26.9. */
  chdb: ['chdb==4.4.0'],
  /** The oldest DuckDB that there is a prebuilt package of. */
  'duckdb-1.1': ['duckdb==1.1.3', 'pytz==2026.6'],
  /** With the extension that reads from buckets. */
  'duckdb-1.5': ['duckdb==1.5.5', 'duckdb-extension-httpfs==1.5.5'],
  spark: ['pyspark==3.5.3'],
};
export type PythonPackages = keyof typeof PACKAGES;

/** Whether packages of Python are there: not without Python 3.11 or a registry, which is reported. */
export function installPython(...names: PythonPackages[]): boolean {
  return names.every((name) => {
    if (existsSync(pythonPath(name))) return true;
    const made = mkdtempSync(`${pythonPath(name)}-`);
    const wanted = PACKAGES[name];
    const pip = ['-m', 'pip', 'install', '--quiet', '--quiet', '--target', made, ...wanted];
    const { status, stderr } = spawnSync('python3', pip, { encoding: 'utf8' });
    if (status === 0 && !existsSync(pythonPath(name))) renameSync(made, pythonPath(name));
    else rmSync(made, { recursive: true });
    if (status !== 0) process.stdout.write(`skipped: no Python that has ${wanted.join(', ')}: ${stderr ?? ''}\n`);
    return status === 0;
  });
}

/** Where they are kept: installing hundreds of megabytes takes minutes. */
export function pythonPath(name: PythonPackages): string {
  mkdirSync(join(CACHE, 'python'), { recursive: true });
  const versions = createHash('sha256').update(PACKAGES[name].join(' ')).digest('hex').slice(0, 8);
  return join(CACHE, 'python', `${name}-${versions}`);
}

/** What a Python program with these packages prints as JSON; it gets `input` on stdin. */
export function askPython(
  packages: PythonPackages,
  program: string,
  cwd: string,
  input: unknown = null,
  given: Record<string, string> = {},
): unknown {
  const env = { ...process.env, ...given, PYTHONPATH: pythonPath(packages) };
  const options = { cwd, env, encoding: 'utf8', input: JSON.stringify(input), maxBuffer: 1e9 } as const;
  const { stdout, stderr, status } = spawnSync('python3', ['-c', program], options);
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}
