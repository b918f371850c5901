import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, it, test } from 'vitest';
import { askAnalysis } from '../../../src/answers/query/ask-rows.js';
import { addOwnTable } from '../../../src/answers/query/own-tables.js';
import { Reader } from '../../../src/answers/query/reader.js';
import type { ReaderOptions } from '../../../src/answers/query/reader-options.js';
import { reportPage } from '../../../src/answers/report/page.js';
import { readReport } from '../../../src/answers/report/report.js';
import { withEngine } from '../../../src/base/storage/engine.js';
import { literal } from '../../../src/base/storage/sql.js';
import { run } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { atEnd, temporaryFolder } from '../../given/folder.js';
import type { BuiltWarehouse } from '../../given/warehouse.js';
import { rowsOf, smallWarehouse } from './given.js';

const SHOP = 'https://shop.example';
const cwd = temporaryFolder();
let warehouse: BuiltWarehouse;

beforeAll(async () => {
  warehouse = await smallWarehouse();
});

function write(name: string, text: string | Buffer): string {
  writeFileSync(join(cwd, name), text);
  return join(cwd, name);
}

async function readerWith(own: Pick<ReaderOptions, 'tables' | 'pagesFrom'>): Promise<Reader> {
  const reader = await Reader.open({ warehouse: warehouse.path, memoryLimit: 256e6, ...own });
  atEnd(() => reader.close());
  return reader;
}

const MEET = [
  [`${SHOP}/`, SHOP, `${SHOP}:443/`, `${SHOP}/#top`, 'HTTPS://Shop.EXAMPLE/', ` ${SHOP}/ `],
  [`${SHOP}/caf%C3%A9`, `${SHOP}/caf%c3%a9`, `${SHOP}/café`, `${SHOP}/café#x`],
  [`${SHOP}/?a=1`, `${SHOP}?a=1`],
  [`${SHOP}/A`, `${SHOP}/%41`],
  [`${SHOP}/a`],
  [`${SHOP}/a/`],
  [`${SHOP}/a?`],
  [`${SHOP}/a%2Fb`],
  [`${SHOP}/a/b`],
  [`${SHOP}:8443/`],
  [`${SHOP}/~a.-_Z9`, `${SHOP}/%7Ea%2E%2d%5F%5a%39`],
  [`${SHOP}/%2541`, `${SHOP}/%%34%31`],
  [`${SHOP}/%40%60%7B%20%5E`],
  ['/a'],
  ['shop.example/a'],
];

test('url_key is the same for spellings of one URL, and for nothing else', async () => {
  const reader = await readerWith({});
  const keys = new Map<unknown, string[]>();
  const sql =
    'select url, url_key(url) as key, url_key(key) as again from (select unnest($urls::json::varchar[]) as url)';
  for (const { url, key, again } of await rowsOf(reader, sql, { urls: JSON.stringify(MEET.flat()) })) {
    expect(again).toBe(key);
    keys.set(key, [...(keys.get(key) ?? []), String(url)]);
  }
  expect([...keys.values()]).toEqual(MEET);
});

test('a file of any form joins the pages, whatever it is called, and no other file can be read', async () => {
  const csv = `URL;n\nhttps://SHOP.example/blog/a_b#x;7\nhttps://elsewhere.example/;1\n`;
  const json = '{"URL": "https://SHOP.example/blog/a_b", "n": 7}\n';
  const parquet = join(cwd, 'Links.PARQUET');
  await withEngine({ memoryLimit: 256e6, temporary: temporaryFolder() }, (engine) =>
    engine.run(`copy (select 'https://SHOP.example/blog/a_b' as URL, 7 as n) to ${literal(parquet)} (format parquet)`),
  );
  const files = [
    write('links [1]*?.CSV', csv),
    write('links.csv.gz', gzipSync(csv)),
    write('links.tsv', csv.replaceAll(';', '\t')),
    write('links.json', `[${json}]`),
    write('links.ndjson', json),
    parquet,
  ];
  const reader = await readerWith({ tables: files.map((file, at) => ({ name: `links_${at}`, file })) });
  const joined = files.map(
    (_, at) => `select pages.url, n from links_${at} join pages on url_key(links_${at}.url) = url_key(pages.url)`,
  );
  expect(await rowsOf(reader, joined.join(' union all '))).toEqual(
    files.map(() => ({ url: `${SHOP}/blog/a_b`, n: 7 })),
  );
  const secret = write('secret.csv', 'secret\n1\n');
  for (const hostile of [
    `from read_csv('${secret}')`,
    `from '${secret}'`,
    `from links_1, read_text('${secret}')`,
    `select (from read_csv('${secret}')) from links_1`,
    `from glob('${cwd}/*')`,
    `copy links_1 to '${secret}'`,
    'insert into links_1 values (1)',
  ])
    await expect(rowsOf(reader, hostile)).rejects.toThrow('Only tables and views can be read');
  const asked = ['query', '--table', 'links=links.ndjson', '--sql', 'select n from links', '--json'];
  const { code, stdout } = await run([...asked, '--warehouse', warehouse.path], { cwd });
  expect([code, JSON.parse(stdout)]).toEqual([0, [{ n: 7 }]]);
});

test.each([
  ['a-b', 'good.csv', '--table a-b: a name is made of letters, digits and underscores'],
  ['Pages', 'good.csv', '--table Pages: there is a table or view of this name already'],
  ['a', 'nowhere.csv', 'a: there is no file /'],
  ['a', 'folder.csv', 'a: there is no file'],
  ['a', 'good.xlsx', 'good.xlsx is none of .csv, .tsv, .parquet, .json, .jsonl, .ndjson'],
  ['a', 'binary.csv', 'binary.csv: Invalid Input Error: CSV Error on Line: 2'],
  ['a', 'bad.parquet', 'bad.parquet: Invalid Input Error: File'],
])('refuses the table %s of %s in one sentence', async (name, file, words) => {
  for (const good of ['good.csv', 'good.xlsx']) write(good, 'url,n\na,1\n');
  write('binary.csv', Buffer.from([97, 44, 98, 10, 255, 254, 44, 0, 10]));
  write('bad.parquet', '{"a": [');
  mkdirSync(join(cwd, 'folder.csv'), { recursive: true });
  const folder = temporaryFolder();
  const refused = await withEngine({ memoryLimit: 256e6, temporary: folder }, async (engine) => {
    await engine.run('create table pages as select 1 as url');
    return addOwnTable(engine, folder, { name, file: join(cwd, file) }).catch((error: Error) => error.message);
  });
  expect(refused).toContain(words);
  expect(refused).not.toContain('\n');
});

test('pages_from puts the columns of a file about URLs or patterns into pages, and groups the report', async () => {
  const sql = 'select url, owner, priority from pages order by url';
  const urls = `URL,owner,priority\n${SHOP}:443/blog/a_b#x,Anna,1\n${SHOP},Ben,\n${SHOP}/blog/a_b,Eve,2\n`;
  const byUrl = await readerWith({ pagesFrom: write('owners.csv', urls) });
  expect(await rowsOf(byUrl, sql)).toEqual([
    { url: `${SHOP}/`, owner: 'Ben', priority: null },
    { url: `${SHOP}/blog/a_b`, owner: 'Anna', priority: '1' },
    { url: `${SHOP}/blog/caf%C3%A9`, owner: null, priority: null },
    { url: `${SHOP}/x`, owner: null, priority: null },
  ]);
  const report = reportPage(await readReport(byUrl, { version: 'test', now: 0 }));
  const part = (/<h3>Fell out by [\s\S]*?<\/section>/.exec(report)?.[0] ?? '').replaceAll(/<[^>]+>\s*/g, '|');
  expect(part).toContain('Fell out by owner');
  expect(part).toMatch(/\|Anna\|+1\|+0\|+1\|+0\|/);
  expect(part).toMatch(/\|–\|+2\|+0\|+2\|+0\|/);
  // `_` and `%` stand for themselves, as in `reports.priority`.
  const patterns =
    'pattern,owner,priority\n/blog/a%b,Eve,9\n/blog/*_*,Anna,1\n/blog/*,Ben,2\nhttps://*/x,Cleo,3\n/,Dora,4\n';
  const byPattern = await readerWith({ pagesFrom: write('patterns.csv', patterns) });
  expect((await rowsOf(byPattern, sql)).map(({ owner }) => owner)).toEqual(['Dora', 'Anna', 'Ben', 'Cleo']);
  expect([byUrl.own.notes, byPattern.own.notes]).toEqual([[], []]);
});

it.each([
  ['gone.csv', null, 'there is no file gone.csv'],
  ['own.csv', 'Address,owner\na,b\n', 'own.csv has no column url or pattern; there are Address, owner'],
  ['own.csv', 'url,Is_Indexed,my owner,owner\na,1,2,3\n', 'own.csv: Is_Indexed, my owner left out: up to 8 columns'],
  ['own.csv', 'url,owner\nhttps://elsewhere.example/,b\n', 'pages_from: own.csv has no row about any page.'],
  [
    'own.csv',
    `pattern,owner\n${'/x,b\n'.repeat(1001)}`,
    'own.csv has more than 1,000 rows, and only the first are used',
  ],
])('pages_from: reports a file of no use, which stops nothing: %s %#', async (name, text, words) => {
  const reader = await readerWith({ pagesFrom: text === null ? join(cwd, name) : write(name, text) });
  expect(await rowsOf(reader, 'select count(*) as n from pages')).toEqual([{ n: 4 }]);
  expect(reader.own.notes.join('\n')).toContain(words);
});

test('query pages filters by own columns, as views do, and names the ones that it does not know', async () => {
  const pagesFrom = write('filter.csv', 'pattern,owner,team\n/blog/*,A&B,x\n/x,A&B,\n');
  const views = [{ name: 'Blog', pages: { own: 'owner=A%26B&team=x' } }];
  const sections = { warehouse: { path: warehouse.path }, pages_from: pagesFrom, views };
  const config = ['-c', writeConfig(cwd, { sections })];
  const viewed = await run(['query', 'pages', 'view=Blog', '--json', ...config]);
  expect(JSON.parse(viewed.stdout)).toHaveLength(2);
  const refused = await run(['query', 'pages', 'own=nope=x', '--log-level', 'error', ...config]);
  const unknown = 'pages: own: there is no column "nope"; there are owner, team';
  expect(refused).toMatchObject({ code: 2, stdout: '', stderr: `indexhouse: ${unknown}\n` });
  const reader = await readerWith({ pagesFrom });
  expect((await askAnalysis(reader, 'pages', { own: 'owner=A%26B' })).rows).toHaveLength(2);
  expect((await askAnalysis(reader, 'pages', { own: 'owner=-' })).rows).toHaveLength(1);
  await expect(askAnalysis(reader, 'pages', { own: 'owner' })).rejects.toThrow(
    'pages: own: write column=value, or column=- for pages without one',
  );
});
