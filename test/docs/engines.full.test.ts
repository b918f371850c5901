import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { beforeAll, describe, expect, type TestContext, test } from 'vitest';
import { z } from 'zod';
import { packageFolder } from '../../src/base/storage/sql.js';
import { Bucket } from '../../src/warehouse/bucket/client.js';
import { pathKey } from '../../src/warehouse/bucket/copy.js';
import { listTableFiles } from '../../src/warehouse/log/folder/layout.js';
import type { environmentOf } from '../given/bucket.js';
import { run } from '../given/cli.js';
import { writeConfig } from '../given/config-file.js';
import { atEnd, folderOnDisk } from '../given/folder.js';
import { CACHE } from '../given/packages.js';
import { randomWarehouse } from '../given/random-world.js';
import { hasServer, startRealServer } from '../given/s3-servers.js';
import { askPython, installPython, type PythonPackages, pythonPath } from '../readers/packages.js';

const WEBSITES = ['a/b %é', "it's [x]{y}*?", '#f&q=1;--', '日本語', 'plus+space ~'] as const;
const COUNTED = 'select website_id, snapshot_date, count(*) as pages from coverage group by all order by all';

const ASK_DUCKDB = `
import duckdb, glob, json, sys
con = duckdb.connect(config={"allow_unsigned_extensions": "true"})
(httpfs,) = glob.glob(__import__("duckdb_extension_httpfs").__path__[0] + "/extensions/*/*.duckdb_extension")
con.execute(f"load '{httpfs}'")
print(json.dumps(con.execute(json.load(sys.stdin)).fetchall(), default=str))`;
const ASK_CLICKHOUSE = `
import chdb, json, sys
print(json.dumps([line.split("\\t") for line in str(chdb.query(json.load(sys.stdin), "TSVRaw")).splitlines()]))`;
const COUNT_ICEBERG = `
counts = table.scan().to_arrow().group_by(["website_id", "snapshot_date"]).aggregate([([], "count_all")])
import json
print(json.dumps([list(row.values()) for row in counts.sort_by([("website_id", "ascending"), ("snapshot_date", "ascending")]).to_pylist()], default=str))`;

const GUIDE = readFileSync(join(packageFolder(), 'docs', 'bi', 'README.md'), 'utf8');

/** The code of a section of the guide, block by block. */
function blocksOf(section: string): string[] {
  const [, text = ''] = GUIDE.split(`\n### ${section}\n`);
  return [...(text.split('\n### ')[0] ?? '').matchAll(/```\w+\n([\s\S]*?)```/g)].map(([, code = '']) => code);
}

describe.runIf(hasServer()).each(['folder', 'bucket'] as const)('the statements of the guide, of a %s', (place) => {
  const cwd = folderOnDisk(`lake-${place}`);
  let env: ReturnType<typeof environmentOf>;
  let warehouse: string;
  let expected: string[];

  beforeAll(async () => {
    ({ path: warehouse } = await randomWarehouse(1, 4, 20, WEBSITES));
    const server = await startRealServer(join(cwd, 'server'));
    atEnd(server.close);
    env = server.env;
    const sections = { warehouse: { path: warehouse }, bucket: 's3://lake/indexhouse' };
    const file = writeConfig(cwd, { sections });
    const sent = await run(['sync', '--recover', '--config', file]);
    expect([sent.code, sent.stderr]).toEqual([0, expect.anything()]);
    await leaveUncommitted();
    const { stdout } = await run(['query', '--sql', COUNTED, '--json', '--config', file]);
    const rows = z.array(z.record(z.string(), z.coerce.string())).parse(JSON.parse(stdout));
    expected = texts(rows.map((one) => Object.values(one)));
    expect(expected.length).toBeGreaterThan(WEBSITES.length);
  });

  test('DuckDB counts what query counts', (context) => {
    expect(ask(context, 'duckdb-1.5', ASK_DUCKDB, blocksOf('DuckDB').join(''))).toEqual(expected);
  });

  test('ClickHouse counts what query counts', (context) => {
    expect(ask(context, 'chdb', ASK_CLICKHOUSE, blocksOf('ClickHouse').join(''))).toEqual(expected);
  });

  test('a table that pyiceberg makes has the rows that query counts, also after another run', (context) => {
    const program = `${filled(blocksOf('An Apache Iceberg table').join(''))}${COUNT_ICEBERG}`;
    for (const _ of [1, 2]) expect(ask(context, 'pyiceberg', program)).toEqual(expected);
  });

  test('Spark counts what query counts', (context) => {
    if (!installPython('spark')) context.skip();
    const [statement = '', command = ''] = blocksOf('Spark');
    writeFileSync(join(cwd, 'pages.sql'), filled(statement));
    const bin = join(pythonPath('spark'), 'bin');
    const own = {
      ...{ ...process.env, ...env, SPARK_LOCAL_IP: '127.0.0.1' },
      ...{ PYTHONPATH: pythonPath('spark'), PATH: `${bin}:${process.env['PATH']}` },
      // Where Spark keeps the packages that it downloads.
      JAVA_TOOL_OPTIONS: `-Duser.home=${CACHE}`,
    };
    const options = { cwd, env: own, encoding: 'utf8' } as const;
    const { stdout, stderr, status } = spawnSync('bash', ['-e', '-c', filled(command)], options);
    const missing = /JAVA_HOME is not set|unresolved dependency.*/.exec(stderr);
    if (missing) context.skip(`skipped: ${missing[0]}`);
    expect([status, stderr.slice(-5000)]).toEqual([0, expect.anything()]);
    const lines = stdout.split('\n').filter((line) => line.includes('\t'));
    expect(texts(lines.map((line) => line.split('\t')))).toEqual(expected);
  });

  /** Removes a marker, as if its commit had been interrupted. */
  async function leaveUncommitted(): Promise<void> {
    const [file = ''] = await listTableFiles(warehouse, 'coverage');
    const marker = relative(warehouse, file).replace('/coverage/', '/snapshots/');
    rmSync(join(warehouse, marker));
    const bucket = new Bucket('s3://lake/indexhouse');
    await bucket.remove(pathKey(marker));
    await bucket.close();
  }

  /** The code of the guide with the addresses and keys of this test. */
  function filled(code: string): string {
    const { AWS_ENDPOINT_URL: endpoint, AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret } = env;
    return (place === 'bucket' ? inBucket(code) : inFolder(code))
      .replace("endpoint 's3.example.com'", `endpoint '${new URL(endpoint).host}', use_ssl false`)
      .replaceAll('https://s3.example.com', endpoint)
      .replaceAll("'KEY'", `'${id}'`)
      .replaceAll("'SECRET'", `'${secret}'`);
  }

  /** What the guide says to write instead for a folder. */
  function inFolder(code: string): string {
    return code
      .replaceAll("'warehouse/", `'${warehouse}/`)
      .replace(/s3:\/\/lake\/indexhouse\?[^"]*/, `file://${warehouse}`)
      .replaceAll('s3://{path}', 'file://{path}')
      .replaceAll('s3://lake/tables', `file://${cwd}/tables`)
      .replaceAll(/s3a?:\/\/lake\/indexhouse/g, warehouse);
  }

  function ask(context: TestContext, packages: PythonPackages, program: string, code = ''): string[] {
    if (!installPython(packages)) context.skip();
    const rows = askPython(packages, program, cwd, filled(code), env);
    return texts(z.array(z.array(z.unknown())).parse(rows));
  }
});

/** One text a row, sorted: engines compare texts in different ways. */
function texts(rows: readonly (readonly unknown[])[]): string[] {
  return rows.map((row) => row.map(String).join('\t')).sort();
}

/** What it says for a bucket. */
function inBucket(code: string): string {
  const s3 = "s3('https://s3.example.com/lake/indexhouse/$1', 'KEY', 'SECRET', 'Parquet', ";
  return code
    .replaceAll(/file\('warehouse\/([^']+)', Parquet, /g, s3)
    .replaceAll("'warehouse/parquet/", "'s3://lake/indexhouse/parquet/");
}
