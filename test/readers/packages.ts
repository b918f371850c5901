import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CACHE, installed } from '../given/packages.js';

/** By the name that they are installed under. */
const PACKAGES = {
  /** ClickHouse's engine, 26.7: 550 MB. */
  chdb: 'chdb@3.4.0',
  /** The oldest DuckDB that there is a prebuilt package of. */
  'duckdb-1.1': 'npm:@duckdb/node-api@1.1.2-alpha.4',
};

/** Each set is installed into a folder of its own. */
const PYTHON_PACKAGES = {
  older: ['duckdb==1.1.3'],
  /** The engine of ClickHouse 26.9. */
  chdb: ['chdb==4.4.0'],
  newer: ['duckdb==2.0.0', 'pandas==3.1.1', 'polars==2.1.0', 'pyarrow==26.0.1'],
  lake: ['duckdb==2.0.0', 'polars==2.1.0', 'pyarrow==26.0.1', 'pyiceberg==0.12.0', 'pytz==2026.6'],
  'duckdb-1.4': ['duckdb==1.4.4', 'duckdb-extension-avro==1.4.4', 'duckdb-extension-iceberg==1.4.4', 'pytz==2026.6'],
  spark: ['pyspark==3.5.3'],
};
export type PythonPackages = keyof typeof PYTHON_PACKAGES;

/** Runs in a process of its own: two builds of one engine in a process would mix up their symbols. */
const ASK_DUCKDB = `
const { DuckDBInstance } = await import(process.argv[1]);
const { file, statements } = JSON.parse(process.argv[2]);
const instance = await DuckDBInstance.create(file ?? ':memory:', file ? { access_mode: 'READ_ONLY' } : {});
const connection = await instance.connect();
await connection.run("set TimeZone = 'UTC'");
const answers = [];
for (const sql of statements) answers.push((await connection.runAndReadAll(sql)).getRows());
console.log(JSON.stringify(answers));
`;
const ASK_CLICKHOUSE = `
const { createRequire } = await import('node:module');
const { query } = createRequire(process.argv[1])('chdb');
const { statements } = JSON.parse(process.argv[2]);
console.log(JSON.stringify(statements.map((sql) => query(sql, 'JSONCompactEachRow'))));
`;

/** Whether the readers could be installed into a folder. */
export function installReaders(folder: string): boolean {
  return installed(
    folder,
    Object.entries(PACKAGES).map(([name, wanted]) => (name === 'chdb' ? wanted : `${name}@${wanted}`)),
  );
}

/** Whether packages of Python are there: not without Python 3.11 or a registry, which is said. */
export function installPython(...names: PythonPackages[]): boolean {
  return names.every((name) => {
    if (existsSync(pythonPath(name))) return true;
    const made = mkdtempSync(`${pythonPath(name)}-`);
    const wanted = PYTHON_PACKAGES[name];
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
  const versions = createHash('sha256').update(PYTHON_PACKAGES[name].join(' ')).digest('hex').slice(0, 8);
  return join(CACHE, 'python', `${name}-${versions}`);
}

/** What a Python program prints as JSON, run in a folder with the older or the newer packages. */
export function askPython(packages: PythonPackages, program: string, cwd: string) {
  const env = { ...process.env, PYTHONPATH: pythonPath(packages) };
  const { stdout, stderr, status } = spawnSync('python3', ['-c', program], { cwd, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as unknown;
}

/** The module of a DuckDB: the one that is installed there, or the project's own. */
export function duckdbModule(folder?: string): string {
  if (folder) return import.meta.resolve(join(folder, 'node_modules', 'duckdb-1.1', 'lib', 'index.js'));
  return import.meta.resolve('@duckdb/node-api');
}

/** The rows of each statement, all values as texts or null; of a file, opened read-only, or of none. */
export function askDuckdb(module: string, statements: string[], file?: string): unknown {
  return ask(ASK_DUCKDB, module, { statements, file });
}

/** The rows of each statement, in ClickHouse's format of one JSON array a line. */
export function askClickhouse(folder: string, statements: string[]): unknown {
  return ask(ASK_CLICKHOUSE, join(folder, 'package.json'), { statements });
}

function ask(script: string, module: string, question: object): unknown {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['--input-type=module', '-e', script, module, JSON.stringify(question)],
    { encoding: 'utf8', maxBuffer: 1e9, cwd: dirname(fileURLToPath(import.meta.url)) },
  );
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}
