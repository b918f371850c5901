import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, it } from 'vitest';
import { withEngine } from '../../../src/base/storage/engine.js';
import { literal } from '../../../src/base/storage/sql.js';
import { atLength, once } from '../../given/at-length.js';
import { run } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { temporaryFolder } from '../../given/folder.js';
import { type BuiltWarehouse, buildWarehouse } from '../../given/warehouse.js';
import { openReader, rowsOf } from './given.js';

const SHOP = 'https://shop.example';
let warehouse: BuiltWarehouse;
let cwd: string;

beforeAll(async () => {
  const page = (path: string, index_summary: string) => ({ url: SHOP + path, entry: { index_summary } });
  const lists = (summary: string) => ({
    shop: [page('/', 'Indexed'), page('/blog/a_b', summary), page('/blog/caf%C3%A9', summary), page('/x', 'Indexed')],
  });
  warehouse = await buildWarehouse([
    { at: '2025-03-01T02:00:00Z', lists: lists('Indexed') },
    { at: '2025-03-02T02:00:00Z', lists: lists('Not Indexed') },
  ]);
  cwd = join(dirname(warehouse.path), 'own');
  mkdirSync(cwd);
});

function write(name: string, text: string | Buffer): string {
  writeFileSync(join(cwd, name), text);
  return name;
}

/** An answer as JSON, or what is wrong. */
async function query(...args: string[]): Promise<unknown> {
  const ended = await run(['query', ...args, '--json', '--warehouse', warehouse.path], { cwd });
  if (ended.code === 0) return JSON.parse(ended.stdout);
  return [ended.code, ended.stderr.replace(/^indexhouse: this data is .*\n/, '')];
}

const MEET = [
  [`${SHOP}/`, SHOP, `${SHOP}:443/`, `${SHOP}/#top`, 'HTTPS://Shop.EXAMPLE/', ` ${SHOP}/ `],
  [`${SHOP}/caf%C3%A9`, `${SHOP}/caf%c3%a9`, `${SHOP}/café`, `${SHOP}/café#x`],
  [`${SHOP}/?a=1`, `${SHOP}?a=1`],
  ['http://shop.example/a', 'http://shop.example:80/a'],
  [`${SHOP}/A`, `${SHOP}/%41`],
  [`${SHOP}/a`],
  [`${SHOP}/a/`],
  [`${SHOP}/a?`],
  [`${SHOP}/a?x=1&y=2`],
  [`${SHOP}/a?y=2&x=1`],
  [`${SHOP}/a%2Fb`],
  [`${SHOP}/a/b`],
  [`${SHOP}:8443/`],
  [`${SHOP}/~a.-_Z9`, `${SHOP}/%7Ea%2E%2d%5F%5a%39`],
  [`${SHOP}/100%25`, `${SHOP}/100%`],
  [`${SHOP}/%2541`, `${SHOP}/%%34%31`],
  [`${SHOP}/%40%60%7B%20%5E`],
  ['https://www.shop.example/'],
  ['/a'],
  ['shop.example/a'],
];

once('url_key is the same for spellings of one URL, and for nothing else', async () => {
  const reader = await openReader(warehouse.path);
  const keys = new Map<unknown, string[]>();
  for (const url of MEET.flat()) {
    const [row] = await rowsOf(reader, 'select url_key($url) as key, url_key(key) as again', { url });
    expect(row?.['again']).toBe(row?.['key']);
    keys.set(row?.['key'], [...(keys.get(row?.['key']) ?? []), url]);
  }
  expect([...keys.values()]).toEqual(MEET);
});

once('a file of any form joins the pages, whatever it is called, and is left as it is', async () => {
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
  const sql = 'select pages.url, n from links join pages on url_key(links.url) = url_key(pages.url)';
  for (const file of files) {
    const before = readFileSync(join(cwd, file.replace(cwd, '')));
    expect([file, await query('--table', `links=${file}`, '--sql', sql)]).toEqual([
      file,
      [{ url: `${SHOP}/blog/a_b`, n: 7 }],
    ]);
    expect(readFileSync(join(cwd, file.replace(cwd, '')))).toEqual(before);
  }
});

const NOTHING_ELSE = [
  "from read_csv('FILE')",
  "from 'FILE'",
  "from links, read_text('SECRET')",
  "from 'FOLDER/*.csv'",
  "select (from read_csv('FILE')) from links",
  "from glob('FOLDER/*')",
  "copy links to 'SECRET'",
  'insert into links values (1)',
  "create table more as from 'SECRET'",
];
it.each(atLength(NOTHING_ELSE.slice(1, 3), NOTHING_ELSE))('nothing but own tables can be read: %s', async (hostile) => {
  const secret = join(cwd, write('secret.csv', 'secret\n1\n'));
  const file = join(cwd, write('links.csv', 'url,n\na,1\n'));
  const sql = hostile.replaceAll('FILE', file).replaceAll('SECRET', secret).replaceAll('FOLDER', cwd);
  expect(await query('--table', `links=${file}`, '--sql', sql)).toEqual([
    2,
    expect.stringContaining('Only tables and views can be read'),
  ]);
  expect(readFileSync(secret, 'utf8')).toBe('secret\n1\n');
});

const BAD: [given: string[], words: string][] = [
  [['--table', 'links'], '--table takes name=file (given: links)'],
  [['--table', 'a-b=good.csv'], '--table a-b: a name is made of letters, digits and underscores'],
  [['--table', '1st=good.csv'], '--table 1st: a name is made of letters'],
  [['--table', 'Pages=good.csv'], '--table Pages: there is a table or view of this name already'],
  [['--table', 'a=good.csv', '--table', 'A=good.csv'], '--table A: there is a table or view of this name already'],
  [['--table', 'a=nowhere.csv'], 'a: there is no file /'],
  [['--table', 'a=folder.csv'], 'a: there is no file'],
  [['--table', 'a=good.xlsx'], 'good.xlsx is none of .csv, .tsv, .parquet, .json, .jsonl, .ndjson'],
  [['--table', 'a=binary.csv'], 'binary.csv: Invalid Input Error: CSV Error on Line: 2'],
  [['--table', 'a=bad.parquet'], 'bad.parquet: Invalid Input Error: File'],
  [['--table', 'a=bad.json'], 'bad.json: Invalid Input Error: Malformed JSON'],
];
it.each(atLength(BAD.slice(7, 9), BAD))('refuses %j in one sentence', async (given, words) => {
  for (const name of ['good.csv', 'good.xlsx']) write(name, 'url,n\na,1\n');
  write('binary.csv', Buffer.from([97, 44, 98, 10, 255, 254, 44, 0, 10]));
  for (const name of ['bad.parquet', 'bad.json']) write(name, '{"a": [');
  mkdirSync(join(cwd, 'folder.csv'), { recursive: true });
  const refused = await query(...given, '--sql', 'select 1');
  expect(refused).toEqual([2, expect.stringContaining(words)]);
  expect(String(refused).trimEnd()).not.toContain('\n');
});

/** What `query` says of a file of the configuration, and the report's part about it as text. */
async function withPagesFrom(file: string, text: string | null, sql: string) {
  if (text !== null) write(file, text);
  const sections = { warehouse: { path: warehouse.path }, pages_from: join(cwd, file) };
  const config = writeConfig(cwd, { baseUrl: 'http://127.0.0.1:9', sections });
  const where = ['--config', config, '--log-level', 'error'];
  const asked = await run(['query', '--sql', sql, '--json', ...where], { cwd });
  const report = await run(['report', '--out', '-', ...where], { cwd });
  expect([asked.code, report.code]).toEqual([0, 0]);
  expect(report.stderr).toBe(asked.stderr);
  const part = /<h3>Fell out by [\s\S]*?<\/section>/.exec(report.stdout)?.[0] ?? '';
  return { rows: JSON.parse(asked.stdout), said: asked.stderr, part: part.replaceAll(/<[^>]+>\s*/g, '|') };
}

once('pages_from puts the columns of a file about URLs or patterns into pages, and groups the report', async () => {
  const sql = 'select url, owner, priority from pages order by url';
  const urls = `URL,owner,priority\n${SHOP}:443/blog/a_b#x,Anna,1\n${SHOP},Ben,\n${SHOP}/blog/a_b,Eve,2\n`;
  const byUrl = await withPagesFrom('owners.csv', urls, sql);
  expect(byUrl.rows).toEqual([
    { url: `${SHOP}/`, owner: 'Ben', priority: null },
    { url: `${SHOP}/blog/a_b`, owner: 'Anna', priority: '1' },
    { url: `${SHOP}/blog/caf%C3%A9`, owner: null, priority: null },
    { url: `${SHOP}/x`, owner: null, priority: null },
  ]);
  expect(byUrl.part).toContain('Fell out by owner');
  expect(byUrl.part).toMatch(/\|Anna\|+1\|+0\|+1\|+0\|/);
  expect(byUrl.part).toMatch(/\|–\|+2\|+0\|+1\|+1\|/);
  // `_` and `%` stand for themselves, as in `reports.priority`.
  const patterns =
    'pattern,owner,priority\n/blog/a%b,Eve,9\n/blog/*_*,Anna,1\n/blog/*,Ben,2\nhttps://*/x,Cleo,3\n/,Dora,4\n';
  const byPattern = await withPagesFrom('owners.csv', patterns, sql);
  expect(byPattern.rows.map(({ owner }: { owner: string }) => owner)).toEqual(['Dora', 'Anna', 'Ben', 'Cleo']);
  expect([byUrl.said, byPattern.said]).toEqual(['', '']);
});

const OF_NO_USE: [file: string, text: string | null, words: string][] = [
  ['gone.csv', null, 'there is no file gone.csv'],
  ['own.xlsx', 'x', 'own.xlsx is none of .csv,'],
  ['own.json', '[', 'cannot read own.json: Invalid Input Error'],
  ['own.csv', 'Address,owner\na,b\n', 'own.csv has no column url or pattern; there are Address, owner'],
  ['own.csv', 'url\na\n', 'own.csv has no column beside url that can be used'],
  ['own.csv', 'url,Is_Indexed,my owner,owner\na,1,2,3\n', 'own.csv: Is_Indexed, my owner left out: up to 8 columns'],
  ['own.csv', 'url,a,b,c,d,e,f,g,h,i\na,1,2,3,4,5,6,7,8,9\n', 'own.csv: i left out: up to 8 columns'],
  ['own.csv', 'url,owner\nhttps://elsewhere.example/,b\n', 'pages_from: own.csv has no row about any page.'],
  [
    'own.csv',
    `pattern,owner\n${'/x,b\n'.repeat(1001)}`,
    'own.csv has more than 1,000 rows, and only the first are used',
  ],
];
it.each(atLength(OF_NO_USE.slice(3, 4), OF_NO_USE))(
  'pages_from: reports %s, which stops nothing (%#)',
  async (file, text, words) => {
    const { rows, said, part } = await withPagesFrom(file, text, 'select count(*) as n from pages');
    expect(rows).toEqual([{ n: 4 }]);
    expect(said).toMatch(/^(indexhouse: pages_from: .*[^.\s]\.\n)+$/);
    expect(said).toContain(words);
    expect(part.replaceAll('&quot;', '"')).toContain(words);
  },
);

once('query pages filters by own columns, as views do, and names the ones that it does not know', async () => {
  const sections = {
    warehouse: { path: warehouse.path },
    pages_from: join(cwd, write('filter.csv', 'pattern,owner,team\n/blog/*,A&B,x\n/x,A&B,\n')),
    views: [
      { name: 'Blog', pages: { own: 'owner=A%26B&team=x' } },
      { name: 'Nope', pages: 'own=nope%3Dx' },
    ],
  };
  const config = writeConfig(cwd, { baseUrl: 'http://127.0.0.1:9', sections });
  const ask = async (...args: string[]) => run(['query', 'pages', ...args, '--log-level', 'error'], { cwd });
  for (const [given, pages] of [
    ['view=Blog', 2],
    ['own=owner=A%26B', 3],
    ['own=owner=-', 1],
  ] as const)
    expect(JSON.parse((await ask(given, '--json', '-c', config)).stdout)).toHaveLength(pages);
  const unknown = 'own: there is no column "nope"; there are owner, team\n';
  const refused = [
    [['own=nope=x', '-c', config], unknown],
    [['view=Nope', '-c', config], unknown],
    [['own=owner', '-c', config], 'own: write column=value, or column=- for pages without one\n'],
    [['own=', '-c', config], 'own: write column=value, or column=- for pages without one\n'],
    [
      ['own=nope=x', '--warehouse', warehouse.path],
      'own: there is no column "nope"; pages_from is not configured, or not used here\n',
    ],
  ] as const;
  for (const [args, words] of refused)
    expect(await ask(...args)).toMatchObject({ code: 2, stdout: '', stderr: `indexhouse: pages: ${words}` });
});
