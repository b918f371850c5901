import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { Pool } from 'undici';
import { z } from 'zod';
import { duckdb } from '../src/base/storage/duckdb.js';
import { listingPath, reportPath } from '../src/source/links.js';

/**
 * A night as a script of fifty lines does it: lists the pages, fetches their reports and appends both as lines of JSON,
 * then loads the lines into a DuckDB file and writes sorted Parquet. It checks nothing, cannot be resumed and compares
 * with no earlier night. Arguments: address of the service, token, website, folder, concurrency, and `fetch` (Node's own,
 * as most scripts use it) or `pool` (a tuned pool of undici).
 */
const WINDOW = 1000;
const windowSchema = z.object({
  urls: z.array(z.looseObject({ url: z.string() })),
  pagination: z.object({ end: z.boolean() }),
});

const [address = '', token = '', website = '', folder = '', concurrency = '8', client = 'fetch'] =
  process.argv.slice(2);
const pool = new Pool(address, { connections: Number(concurrency) });
const headers = { authorization: `Bearer ${token}`, accept: 'application/json' };
const files = { coverage: join(folder, 'coverage.ndjson'), reports: join(folder, 'reports.ndjson') };

async function main(): Promise<void> {
  const urls = await list();
  await Promise.all(Array.from({ length: Number(concurrency) }, () => fetchReports(urls)));
  await pool.close();
  await load();
}

async function list(): Promise<string[]> {
  const urls: string[] = [];
  for (let skip = 0; ; skip += WINDOW) {
    const { urls: entries, pagination } = windowSchema.parse(await get(listingPath(website, skip, WINDOW)));
    appendFileSync(files.coverage, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
    urls.push(...entries.map(({ url }) => url));
    if (pagination.end) return urls.reverse();
  }
}

async function fetchReports(urls: string[]): Promise<void> {
  for (let url = urls.pop(); url !== undefined; url = urls.pop()) {
    appendFileSync(files.reports, `${JSON.stringify(await get(reportPath(url)))}\n`);
  }
}

async function get(path: string): Promise<unknown> {
  if (client === 'fetch') {
    const answer = await fetch(`${address}${path}`, { headers });
    if (!answer.ok) throw new Error(`the service answered ${answer.status}`);
    return answer.json();
  }
  const { statusCode, body } = await pool.request({ path, method: 'GET', headers });
  if (statusCode !== 200) throw new Error(`the service answered ${statusCode}`);
  return body.json();
}

async function load(): Promise<void> {
  const instance = await duckdb.DuckDBInstance.create(join(folder, 'night.duckdb'));
  const connection = await instance.connect();
  for (const [table, file] of Object.entries(files)) {
    await connection.run(`create table ${table} as select * from read_json_auto('${file}') order by url`);
    await connection.run(`copy ${table} to '${join(folder, table)}.parquet' (format parquet, compression zstd)`);
  }
  connection.closeSync();
}

await main();
