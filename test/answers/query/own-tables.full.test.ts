import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, it, test } from 'vitest';
import { askAnalysis } from '../../../src/answers/query/ask-rows.js';
import { addOwnTable } from '../../../src/answers/query/own-pages.js';
import { Reader } from '../../../src/answers/query/reader.js';
import type { ReaderOptions } from '../../../src/answers/query/reader-options.js';
import { reportPage } from '../../../src/answers/report/page.js';
import { readReport } from '../../../src/answers/report/report.js';
import { withEngine } from '../../../src/base/storage/engine.js';
import { literal } from '../../../src/base/storage/sql.js';
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
  [`${SHOP}/caf%C3%A9`, `${SHOP}/caf%c3%a9`, `${SHOP}/café#x`],
  [`${SHOP}/?a=1`, `${SHOP}?a=1`],
  [`${SHOP}/A`, `${SHOP}/%41`],
  ...[[`${SHOP}/a`], [`${SHOP}/a/`], [`${SHOP}/a?`], [`${SHOP}/a%2Fb`], [`${SHOP}/a/b`], [`${SHOP}:8443/`]],
  [`${SHOP}/~a.-_Z9`, `${SHOP}/%7Ea%2E%2d%5F%5a%39`],
  [`${SHOP}/%2541`, `${SHOP}/%%34%31`],
  ...[[`${SHOP}/%40%60%7B%20%5E`], ['shop.example/a']],
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
  for (const hostile of [`from read_csv('${secret}')`, `from links_1, read_text('${secret}')`, `from '${secret}'`])
    await expect(rowsOf(reader, hostile)).rejects.toThrow('Only tables and views can be read');
});

test.each([
  ['a-b', 'good.csv', '--table a-b: a name is made of letters, digits and underscores'],
  ['Pages', 'good.csv', '--table Pages: there is a table or view of this name already'],
  ['a', 'nowhere.csv', 'a: there is no file /'],
  ['a', 'good.xlsx', 'good.xlsx is none of .csv, .tsv, .parquet, .json, .jsonl, .ndjson'],
  ['a', 'binary.csv', 'binary.csv: Invalid Input Error: CSV Error on Line: 2'],
  ['a', 'bad.parquet', 'bad.parquet: Invalid Input Error: File'],
])('refuses the table %s of %s in one sentence', async (name, file, words) => {
  for (const good of ['good.csv', 'good.xlsx']) write(good, 'url,n\na,1\n');
  write('binary.csv', Buffer.from([97, 44, 98, 10, 255, 254, 44, 0, 10]));
  write('bad.parquet', '{"a": [');
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
  ['Address,owner\na,b\n', 'own.csv has no column url or pattern; there are Address, owner'],
  ['url,Is_Indexed,my owner,owner\na,1,2,3\n', 'own.csv: Is_Indexed, my owner left out: up to 8 columns'],
  [`pattern,owner\n${'/x,b\n'.repeat(1001)}`, 'own.csv has more than 1,000 rows, and only the first are used'],
])('pages_from: reports a file of no use, which stops nothing: %#', async (text, words) => {
  const reader = await readerWith({ pagesFrom: write('own.csv', text) });
  expect(await rowsOf(reader, 'select count(*) as n from pages')).toEqual([{ n: 4 }]);
  expect(reader.own.notes.join('\n')).toContain(words);
});

test('query pages filters by own columns, and names the ones that it does not know', async () => {
  const pagesFrom = write('filter.csv', 'pattern,owner,team\n/blog/*,A&B,x\n/x,A&B,\n');
  const reader = await readerWith({ pagesFrom });
  const asked = async (own: string) => (await askAnalysis(reader, 'pages', { own })).rows.length;
  expect([await asked('owner=A%26B'), await asked('owner=-'), await asked('owner=A%26B&team=x')]).toEqual([2, 1, 2]);
  await expect(asked('owner')).rejects.toThrow('own: write column=value, or column=- for pages without one');
  await expect(asked('nope=x')).rejects.toThrow('own: there is no column "nope"; there are owner, team');
});
