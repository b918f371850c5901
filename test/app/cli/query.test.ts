import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readXlsx } from 'hucre/xlsx';
import { describe, expect, it, test } from 'vitest';
import { analyses } from '../../../src/answers/query/catalog.js';
import { PROGRAM, run } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { temporaryFolder } from '../../given/folder.js';
import { readParquet } from '../../given/parquet.js';
import { buildWarehouse, sharedWarehouse } from '../../given/warehouse.js';

/** A C1 control and a mark that turns the reading direction: a terminal would obey them. */
const HOSTILE = '\u202e\u009b2J';
const PLAIN = 'https://shop.example/a';
const TRAP = `https://blog.example/${HOSTILE}`;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
const INTERPRETED = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

const warehouse = sharedWarehouse(() => {
  const entry = { index_summary: '=cmd, "quoted"', last_crawl_time: '2025-02-28T12:00:00Z' };
  const trap = { url: TRAP, entry: { index_coverage_state: `${HOSTILE}\u001b[31m` } };
  const many = Array.from({ length: 51 }, (_, at) => ({ url: `https://blog.example/${at}/a` }));
  const lists = { shop: [{ url: PLAIN, entry }], [`${HOSTILE}blog`]: [trap, ...many] };
  return buildWarehouse([{ at: '2025-03-01T02:00:00Z', lists }]);
});

/** What every answer says on stderr, because the nights of these tests are long ago. */
const OLD = /^indexhouse: (this data|the data of \S+) is \d+ days old, .*\n/;
/** What it says about a file that it has written. */
const WRITTEN = /^indexhouse: [\d,]+ rows? to .* \(\d+ [kM]B\)\n$/;

const asking = (args: string[], options = {}) => run(['query', ...args, '--warehouse', warehouse.path], options);

async function query(...args: string[]): Promise<string> {
  const ended = await asking(args);
  const written = args.includes('--out') && !args.includes('-') ? expect.stringMatching(WRITTEN) : '';
  expect([ended.code, ended.stderr.replace(OLD, '')]).toEqual([0, written]);
  return ended.stdout;
}

const sql = (text: string, ...more: string[]) => query('--sql', text, ...more);

async function refusal(args: string[], isTTY = false): Promise<string> {
  const { code, stderr } = await asking(args, isTTY ? { columns: 80 } : {});
  expect([code, stderr]).toEqual([2, expect.not.stringMatching(/^ +at /m)]);
  return stderr.replace('indexhouse: ', '').trimEnd();
}

describe('indexhouse query', () => {
  it('lists the analyses and describes one, without a warehouse', async () => {
    const text = (await run(['query'])).stdout;
    for (const { name, title } of analyses()) expect(text).toMatch(new RegExp(`^  ${name} +${title}$`, 'm'));
    expect(JSON.parse((await run(['query', '--json'])).stdout)).toHaveLength(analyses().length);
    const one = (await run(['query', '--describe', 'page'])).stdout;
    expect(one).toMatch(/^page: One page in sentences\n[\s\S]+url \(text, required\)/);
  });

  it('finds the warehouse by the configuration, whose token it does not need; parameters stand anywhere', async () => {
    const sections = { warehouse: { path: warehouse.path } };
    const config = writeConfig(temporaryFolder(), { token: `\${NOT_SET_AT_ALL}`, sections });
    const { stdout } = await run(['query', `url=${PLAIN}`, 'page', 'website=shop', '--json', '--config', config]);
    expect(JSON.parse(stdout)).toMatchObject({ 0: { topic: 'index' }, 1: { topic: 'crawl' } });
  });

  it('reads a file, and binds its parameters as text', async () => {
    const file = join(temporaryFolder(), 'own.sql');
    writeFileSync(file, 'select count(*) as n from coverage where url = $url;\n');
    expect(JSON.parse(await query('--file', file, `url=${PLAIN}`, '--json'))).toEqual([{ n: 1 }]);
  });

  it.each<[args: string[], words: string]>([
    [['indexing_trends'], 'Did you mean "indexing_trend"?'],
    [['indexing_trend', 'since=soon'], 'since is not a date'],
    [['indexing_trend', 'website=typo'], 'in the warehouse. It has:\n'],
    [['indexing_trend', '--columns', 'page'], 'there is no column "page". Did you mean "pages"?'],
    [['page'], 'parameter url is required'],
    [['--sql', 'drop view pages'], '--sql is not a query but DROP'],
    [['--sql', 'select 1', '--out', 'a.doc'], '--out a.doc: use one of .json, .csv'],
    [['--sql', 'select 1', '--format', 'json', '--out', 'x.CSV'], '--format json and --out x.CSV cannot be combined'],
  ])('refuses %j', async (args, words) => expect(await refusal(args)).toContain(words));

  it('exits with 2 where there is no warehouse', async () => {
    const stderr = 'indexhouse: no warehouse at /nowhere: run `indexhouse sync` first\n';
    const missing = { code: 2, stdout: '', stderr };
    expect(await run(['query', 'indexing_trend', '--warehouse', '/nowhere'])).toMatchObject(missing);
    const file = expect.stringContaining(`${PROGRAM} is a file: name the folder`);
    expect(await run(['status', '--warehouse', PROGRAM])).toMatchObject({ code: 2, stderr: file });
  });

  it('says that there are no rows, and why', async () => {
    expect(await query('deindexed_pages')).toContain('There is one snapshot, and two are needed to compare: there');
  });

  it('reports a default limit that left something out, with how to get all of it', async () => {
    const csv = ['coverage_by_directory', '--format', 'csv'];
    expect(await query('coverage_by_directory')).toMatch(/The first 50 rows; all of them: limit=none\n$/);
    expect((await asking(csv)).stderr).toContain('coverage_by_directory: the first 50 rows; all: limit=none\n');
  });
});

test('a terminal is shown only escaped what it would interpret, and a pipe gets the same values', async () => {
  const csv = ['pages', '--format', 'csv'];
  for (const args of [['pages'], csv]) {
    const { stdout, stderr } = await asking(args, { columns: 200 });
    expect(stdout + stderr).not.toMatch(INTERPRETED);
    expect(stdout).toContain('2J');
  }
  expect((await asking(csv)).stdout).toContain(HOSTILE);
});

test('JSON is an array of row objects with values of their types, whole in many parts', async () => {
  const values = `range as n, timestamptz '2025-03-01 02:00:00Z' as at, '${TRAP}' as url, null as no, 2 as n`;
  const text = await sql(`select ${values} from range(10000) order by range`, '--json');
  const last = { n: 9999, at: '2025-03-01T02:00:00.000Z', url: TRAP, no: null, 'n:1': 2 };
  expect(JSON.parse(text).at(-1)).toEqual(last);
  expect(text).not.toMatch(/[\u009b\u202e]/);
});

test('CSV is guarded against formulas unless asked not to', async () => {
  const text = `select index_summary from coverage where url = '${PLAIN}'`;
  expect(await sql(text, '--format', 'csv')).toBe('index_summary\r\n"\'=cmd, ""quoted"""\r\n');
  expect(await sql(text, '--format', 'csv', '--raw-csv')).toBe('index_summary\r\n"=cmd, ""quoted"""\r\n');
});

test('Markdown is a table whose links are links and whose text is text', async () => {
  const text = "select 'a|b <i>*_`[x](y)' as \"n|1\", 2 as n, 'https://shop.example/a_b' as url, 'x\ny' as two";
  expect(await sql(text, '--format', 'md')).toBe(
    '| n\\|1 | n | url | two |\n| --- | ---: | --- | --- |\n' +
      '| a\\|b \\<i\\>\\*\\_\\`\\[x\\](y) | 2 | <https://shop.example/a_b> | x\\\\ny |\n',
  );
});

test('a spreadsheet has numbers, times and truth values as such, web addresses as links, and text as text', async () => {
  const odd = 'a\u0001b\r\n"<&>\u{1f600} ';
  const statement = `select '=1+1' as text, url, 5::bigint as n, 0.5 as share, true as yes, null as nothing,
    date '2025-03-01' as day, timestamptz '2025-03-01 02:03:04.5Z' as at, '_x0041_' as escaped, '${odd}' as odd,
    date '1850-01-01' as old, ['a'] as list
    from (values ('https://shop.example/ä?a=1&b=''2''#c'), ('=HYPERLINK("https://shop.example")'), ('javascript:alert(1)')) as pages(url)`;
  const out = join(temporaryFolder(), 'answer.xlsx');
  expect(await sql(statement, '--out', out)).toBe('');
  // By a reader that did not write it.
  const [about, sheet] = (await readXlsx(readFileSync(out))).sheets;
  const [heads, ...rows] = sheet?.rows ?? [];
  expect(heads).toEqual('text,url,n,share,yes,nothing,day,at,escaped,odd,old,list'.split(','));
  const [day, at] = [new Date('2025-03-01'), new Date('2025-03-01T02:03:04.500Z')];
  const url = "https://shop.example/ä?a=1&b='2'#c";
  expect(rows[0]).toEqual(['=1+1', url, 5, 0.5, true, null, day, at, '_x0041_', odd, '1850-01-01', '["a"]']);
  const texts = ['=HYPERLINK("https://shop.example")', 'javascript:alert(1)'];
  expect(rows.slice(1).map(([, written]) => written)).toEqual(texts);
  const cells = [...(sheet?.cells ?? [])];
  const links = cells.flatMap(([place, { hyperlink }]) => (hyperlink ? [[place, hyperlink.target]] : []));
  expect(links).toEqual([['1,1', 'https://shop.example/%C3%A4?a=1&b=%272%27#c']]);
  expect(cells.filter(([, { formula }]) => formula !== undefined)).toEqual([]);
  expect([sheet?.freezePane?.rows, sheet?.autoFilter?.range]).toEqual([1, 'A1:L4']);
  expect(about?.rows).toEqual(
    expect.arrayContaining([
      ['Title', 'Own SQL'],
      ['Rows', '3'],
    ]),
  );
});

test('Parquet goes to a file or a pipe, with types and JSON as text, but not to a terminal', async () => {
  const statement = `select url, snapshot_at, snapshot_date, sum(5) as n, '{"a":1}'::json as text
    from coverage where url = $url group by all; -- one`;
  const args = ['--sql', statement, `url=${PLAIN}`, '--format', 'parquet'];
  const day = '2025-03-01';
  // A sum of 128 bits, for which Parquet has no type. No column carries Parquet's JSON type, which this reader would make an object of.
  const row = { url: PLAIN, snapshot_at: new Date(`${day}T02:00:00Z`), n: 5n, text: '{"a":1}' };
  const folder = temporaryFolder();
  const [out, piped] = [join(folder, 'answer.parquet'), join(folder, 'piped.parquet')];
  expect(await query(...args, '--out', out)).toBe('');
  writeFileSync(piped, (await asking(args)).bytes);
  for (const file of [out, piped]) expect(await readParquet(file)).toEqual([{ ...row, snapshot_date: new Date(day) }]);
  expect(await refusal(args, true)).toContain('Parquet cannot be printed to a terminal');
});

describe('--out', () => {
  it('takes the format of its extension, never over an existing file unless forced', async () => {
    const out = join(temporaryFolder(), 'answer.JSON');
    const args = ['--sql', 'select 1 as n', '--out', out];
    writeFileSync(out, 'precious');
    expect(await refusal(args)).toContain(`${out} already exists`);
    expect(readFileSync(out, 'utf8')).toBe('precious');
    await query(...args, '--force');
    expect(readFileSync(out, 'utf8')).toBe('[\n  {"n":1}\n]\n');
  });

  it('is never a file of the warehouse, even where it is forced', async () => {
    const out = join(warehouse.path, 'own.csv');
    expect(await refusal(['--sql', 'select 1 as n', '--out', out, '--force'])).toBe(
      `${out} is inside the warehouse ${warehouse.path}: choose a path outside of it`,
    );
    expect(existsSync(out)).toBe(false);
  });

  it.each([
    ['csv', "select if(range = 9999, 'x', '1')::integer as n from range(10000)", '--sql: Conversion Error'],
    ['xlsx', "select repeat('x', 32768) as text", 'a text of 32,768 characters in text: a cell of a spreadsheet holds'],
  ])('leaves nothing of an answer that fails half-way: %s', async (format, failing, words) => {
    const out = join(temporaryFolder(), `answer.${format}`);
    expect(await refusal(['--sql', failing, '--out', out])).toContain(words);
    expect(existsSync(out)).toBe(false);
  });
});
