import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { analyses } from '../../../src/answers/query/catalog.js';
import { atLength, once, testAtLength } from '../../given/at-length.js';
import { PROGRAM, run, start } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { temporaryFolder } from '../../given/folder.js';
import { readParquet } from '../../given/parquet.js';
import { buildWarehouse, sharedWarehouse } from '../../given/warehouse.js';
import { readWorkbook } from '../../given/workbook.js';

/** A URL that the contract takes, and a terminal would obey: C1 control and a mark that turns the reading direction. */
const HOSTILE = 'https://shop.example/\u009b2J\u202etxt';
const PLAIN = 'https://shop.example/a';

const warehouse = sharedWarehouse(() => {
  const entry = { index_summary: '=cmd, "quoted"', last_crawl_time: '2025-02-28T12:00:00Z' };
  return buildWarehouse([{ at: '2025-03-01T02:00:00Z', lists: { shop: [{ url: PLAIN, entry }, { url: HOSTILE }] } }]);
});

/** What every answer says on stderr, because the nights of these tests are long ago. */
const OLD = /^indexhouse: this data is \d+ days old, .*\n/;
/** What it says about a file that it has written. */
const WRITTEN = /^indexhouse: [\d,]+ rows? to .* \(\d+ [kM]B\)\n$/;

interface Asked {
  columns?: number;
  isTTY?: boolean;
}

async function query(args: string[], { columns, isTTY }: Asked = {}): Promise<string> {
  const where = ['--warehouse', warehouse.path];
  const ended = await run(['query', ...args, ...where], isTTY ? { columns: columns ?? 80 } : {});
  const written = args.includes('--out') && !args.includes('-') ? expect.stringMatching(WRITTEN) : '';
  expect([ended.code, ended.stderr.replace(OLD, '')]).toEqual([0, written]);
  return ended.stdout;
}

const sql = (text: string, ...more: string[]) => query(['--sql', text, ...more]);

async function refusal(args: string[], { columns, isTTY }: Asked = {}): Promise<string> {
  const where = ['--warehouse', warehouse.path];
  const { code, stderr } = await run(['query', ...args, ...where], isTTY ? { columns: columns ?? 80 } : {});
  expect([code, stderr]).toEqual([2, expect.not.stringMatching(/^ +at /m)]);
  return stderr.replace('indexhouse: ', '').trimEnd();
}

describe('indexhouse query', () => {
  once('lists the analyses and describes one, without a warehouse', async () => {
    const text = (await run(['query'])).stdout;
    for (const { name, title } of analyses()) expect(text).toMatch(new RegExp(`^  ${name} +${title}$`, 'm'));
    expect(JSON.parse((await run(['query', '--json'])).stdout)).toHaveLength(analyses().length);
    const one = (await run(['query', '--describe', 'page'])).stdout;
    expect(one).toMatch(
      /^page: One page in sentences\n[\s\S]+url \(text, required\)[\s\S]+about \(topic\)[\s\S]+with page as/,
    );
  });

  once('finds the warehouse by the configuration, whose token it does not need', async () => {
    const folder = temporaryFolder();
    const sections = { warehouse: { path: warehouse.path } };
    const config = writeConfig(folder, { token: `\${NOT_SET_AT_ALL}`, sections });
    const { stdout } = await run(['query', 'indexing_trend', '--json', '--config', config]);
    expect(JSON.parse(stdout)).toMatchObject([{ website_id: 'shop', pages: 2 }]);
  });

  once('takes parameters before and after the name', async () => {
    const args = [`url=${PLAIN}`, 'page', 'website=shop', '--json'];
    expect(JSON.parse(await query(args))).toMatchObject({ 0: { topic: 'index' }, 1: { topic: 'crawl' } });
  });

  once('reads a file, and binds its parameters as text', async () => {
    const file = join(temporaryFolder(), 'own.sql');
    writeFileSync(file, 'select count(*) as n from coverage where url = $url;\n');
    expect(JSON.parse(await query(['--file', file, `url=${PLAIN}`, '--json']))).toEqual([{ n: 1 }]);
    expect(await refusal(['--file', file])).toContain(`${file}: the parameter $url is missing`);
  });

  const REFUSED: [args: string[], words: string][] = [
    [['indexing_trends'], 'Did you mean "indexing_trend"?'],
    [['indexing_trend', 'since=soon'], 'since is not a date'],
    [['indexing_trend', 'website=typo'], 'in the warehouse. It has:\n  shop  https://shop.example'],
    [['--sql', 'drop view pages'], '--sql is not a query but DROP'],
    [['indexing_trend', '--columns', 'pages,shared'], 'no column "shared". There are: website_id, website_name,'],
    [['--sql', "from read_text('/etc/passwd')"], '--sql calls read_text() in FROM'],
    [['--sql', 'select 1', '--out', '/nowhere/x.csv'], 'cannot write /nowhere/x.csv'],
  ];
  const REFUSED_TOO: typeof REFUSED = [
    [['page'], 'parameter url is required'],
    [['--sql', 'select nope'], '--sql: Binder Error'],
    [['--sql', 'select 1', '--json', '--format', 'csv'], '--json and --format csv cannot be combined'],
    [['--file', '/nowhere/own.sql'], 'cannot read /nowhere/own.sql'],
    [['indexing_trend', 'page'], 'one analysis at a time'],
    [['indexing_trend', '--sql', 'select 1'], 'use one of'],
    [['indexing_trend', 'website=a', 'website=b'], 'website is given twice'],
    [['--sql', 'select 1', '--format', 'json', '--out', 'x.CSV'], '--format json and --out x.CSV cannot be combined'],
    [['indexing_trend', '--columns', 'page'], 'there is no column "page". Did you mean "pages"?'],
    [['--sql', 'select 1', '--out', 'a.doc'], '--out a.doc: use one of .json, .csv'],
    [['indexing_trend', '--columns', 'pages,'], 'Write them like url,snapshot_date'],
  ];
  it.each(atLength(REFUSED, [...REFUSED, ...REFUSED_TOO]))('refuses %j', async (args, words) => {
    expect(await refusal(args)).toContain(words);
  });
});

describe('the program', () => {
  once('leaves nothing in the temporary folder where Ctrl-C ends it in the middle of an answer', async () => {
    const folder = temporaryFolder();
    const endless = 'select count(*) from range(1000000) as a, range(1000000) as b where a.range % 7 = b.range % 5';
    const asked = ['query', '--sql', endless, '--warehouse', warehouse.path];
    const asking = start(asked, { env: { TMPDIR: folder } });
    await vi.waitFor(() => expect(readdirSync(folder)).toHaveLength(1), 30_000);
    asking.kill('SIGINT');
    expect(await asking.ended).toMatchObject({ signal: 'SIGINT', stdout: '' });
    expect(readdirSync(folder)).toEqual([]);
  });

  once('exits with 2 where there is no warehouse', async () => {
    const ended = await run(['query', 'indexing_trend', '--warehouse', '/nowhere']);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toBe('indexhouse: no warehouse at /nowhere: run `indexhouse sync` first\n');
    const stderr = expect.stringContaining(`${PROGRAM} is a file: name the folder`);
    for (const name of ['report', 'status', 'verify', 'mcp'])
      expect(await run([name, '--warehouse', PROGRAM])).toMatchObject({ code: 2, stderr });
  });
});

describe('a table', () => {
  once('shows what a terminal would obey', async () => {
    const text = await sql('select url from coverage order by url');
    expect(text).toContain('https://shop.example/\\x9b2J\\u202etxt');
    expect(text).not.toMatch(/[\u009b\u202e]/);
    expect(await query(['--sql', 'select url from coverage'], { isTTY: true, columns: 80 })).not.toMatch(
      /[\u009b\u202e]/,
    );
  });

  once('says that there are no rows', async () => {
    expect(await sql('select url from coverage where false')).toBe('url\n───\n\nNo rows.\n');
    expect(await query(['deindexed_pages'])).toContain('There is one snapshot, and two are needed to compare: there');
    expect(await query(['events'])).toContain('usual takes complete listings of 9 nights; there is one.\n');
  });
});

describe('JSON', () => {
  once('is an array of row objects with values of their types', async () => {
    const text = await sql("select timestamptz '2025-03-01 02:00:00Z' as at, 1 as n, null as no, 2 as n", '--json');
    expect(JSON.parse(text)).toEqual([{ at: '2025-03-01T02:00:00.000Z', n: 1, no: null, 'n:1': 2 }]);
  });

  once('keeps hostile text, harmless for a terminal', async () => {
    const text = await sql('select url from coverage order by url', '--format', 'json');
    expect(JSON.parse(text)).toEqual([{ url: PLAIN }, { url: HOSTILE }]);
    expect(text).not.toMatch(/[\u009b\u202e]/);
  });

  once('is whole in many parts, and empty without rows', async () => {
    const rows = JSON.parse(await sql('select range as n from range(10000) order by n', '--json'));
    expect(rows).toHaveLength(10_000);
    expect(rows.at(-1)).toEqual({ n: 9999 });
    expect(await sql('select 1 as n where false', '--json')).toBe('[]\n');
  });
});

once('CSV is quoted, and guarded against formulas unless asked not to', async () => {
  const text = `select index_summary as "a,b", null as n, '' as empty, -1 as minus from coverage where url = '${PLAIN}'`;
  expect(await sql(text, '--format', 'csv')).toBe('"a,b",n,empty,minus\r\n"\'=cmd, ""quoted""",,"",-1\r\n');
  expect(await sql(text, '--format', 'csv', '--raw-csv')).toContain('\r\n"=cmd, ""quoted""",,"",-1\r\n');
});

once('--columns chooses columns of the statement, in this order', async () => {
  const trend = ['indexing_trend', '--columns', 'snapshot_date,pages'];
  expect(await query([...trend, '--format', 'csv'])).toBe('snapshot_date,pages\r\n2025-03-01,2\r\n');
  expect(await query([...trend, '--json'])).toBe('[\n  {"snapshot_date":"2025-03-01","pages":2}\n]\n');
  expect(await sql("select 1 as a, 'x' as b, 3 as c", '--columns', 'c,a')).toBe('c  a\n─  ─\n3  1\n');
});

testAtLength('a default limit that left something out is reported, with how to get all of it', async () => {
  const pages = Array.from({ length: 51 }, (_, at) => ({ url: `https://shop.example/${at}/a` }));
  const many = await buildWarehouse([{ at: '2025-03-01T02:00:00Z', lists: { shop: pages } }]);
  const asked = async (...args: string[]) => {
    const name = 'coverage_by_directory';
    const { stdout, stderr } = await run(['query', name, ...args, '--warehouse', many.path]);
    return { lines: stdout.split('\n').length, stdout, stderr: stderr.replace(OLD, '') };
  };
  const note = 'indexhouse: coverage_by_directory: the first 50 rows; all: limit=none\n';
  const last = expect.stringMatching(/The first 50 rows; all of them: limit=none\n$/);
  expect(await asked()).toMatchObject({ stdout: last, stderr: '' });
  expect(await asked('--format', 'csv')).toMatchObject({ lines: 52, stderr: note });
  expect(await asked('--format', 'csv', 'limit=none')).toMatchObject({ lines: 53, stderr: '' });
  expect(await asked('--format', 'csv', 'limit=50')).toMatchObject({ lines: 52, stderr: '' });
});

once('Markdown is a table whose links are links and whose text is text', async () => {
  const text = "select 'a|b <i>*_`[x](y)' as \"n|1\", 2 as n, 'https://shop.example/a_b' as url, 'x\ny' as two";
  expect(await sql(text, '--format', 'md')).toBe(
    '| n\\|1 | n | url | two |\n| --- | ---: | --- | --- |\n' +
      '| a\\|b \\<i\\>\\*\\_\\`\\[x\\](y) | 2 | <https://shop.example/a_b> | x\\\\ny |\n',
  );
});

describe('a spreadsheet', () => {
  const ODD = 'a\u0001b\r\n"<&>\u{1f600} ';
  const QUERY = `select '=1+1' as text, url, 5::bigint as n, 0.5 as share, true as yes, null as nothing,
    date '2025-03-01' as day, timestamptz '2025-03-01 02:03:04.5Z' as at, '_x0041_' as escaped, '${ODD}' as odd,
    date '1850-01-01' as old, ['a'] as list
    from (values ('https://shop.example/ä?a=1&b=''2''#c'), ('=HYPERLINK("https://shop.example")'), ('javascript:alert(1)')) as pages(url)`;

  async function sheet(args: string[]) {
    const out = join(temporaryFolder(), 'answer.xlsx');
    expect(await query([...args, '--out', out])).toBe('');
    return readWorkbook(readFileSync(out));
  }

  once('has numbers, times and truth values as such, web addresses as links, and text as text', async () => {
    const { about, heads, rows, ...read } = await sheet(['--sql', QUERY]);
    expect(heads).toEqual('text,url,n,share,yes,nothing,day,at,escaped,odd,old,list'.split(','));
    const [day, at] = [new Date('2025-03-01'), new Date('2025-03-01T02:03:04.500Z')];
    const url = "https://shop.example/ä?a=1&b='2'#c";
    expect(rows[0]).toEqual(['=1+1', url, 5, 0.5, true, null, day, at, '_x0041_', ODD, '1850-01-01', '["a"]']);
    expect(rows.map(([, written]) => written)).toEqual([
      url,
      '=HYPERLINK("https://shop.example")',
      'javascript:alert(1)',
    ]);
    expect(read).toEqual({
      links: [['1,1', 'https://shop.example/%C3%A4?a=1&b=%272%27#c']],
      hasFormulas: false,
      frozenRows: 1,
      filtered: 'A1:L4',
    });
    expect(Object.fromEntries(about)).toMatchObject({ Title: 'Own SQL', Website: 'https://shop.example', Rows: '3' });
  });

  testAtLength('has as many links as a sheet may have, and says so', async () => {
    const { about, rows, links } = await sheet([
      '--sql',
      "select 'https://shop.example/' || range as url from range(65600)",
    ]);
    expect([rows.length, links.length, about.get('Links')]).toEqual([
      65_600,
      65_530,
      'The first 65,530 pages; a sheet holds no more.',
    ]);
  });

  testAtLength('is refused before the first row if a sheet or cell cannot hold it, or on a terminal', async () => {
    const out = join(temporaryFolder(), 'answer.xlsx');
    expect(await refusal(['--sql', 'from range(1048576)', '--out', out])).toContain(
      '--sql: more than the 1,048,575 rows that a spreadsheet holds',
    );
    expect(await refusal(['--sql', "select repeat('x', 32768) as text", '--out', out])).toContain(
      'a text of 32,768 characters in text: a cell of a spreadsheet holds 32,767',
    );
    expect(existsSync(out)).toBe(false);
    expect(await refusal(['--sql', 'select 1', '--format', 'xlsx'], { isTTY: true })).toContain(
      'printed to a terminal',
    );
  });
});

describe('Parquet', () => {
  const QUERY = `select url, snapshot_at, snapshot_date, sum(5) as n, '{"a":1}'::json as text
    from coverage where url = $url group by all; -- one`;
  const ARGS = ['--sql', QUERY, `url=${PLAIN}`, '--format', 'parquet'];
  const ROW = {
    url: PLAIN,
    snapshot_at: new Date('2025-03-01T02:00:00Z'),
    snapshot_date: new Date('2025-03-01'),
    n: 5n,
    // A sum of 128 bits, for which Parquet has no type. No column carries Parquet's JSON type, which this reader would make an object of.
    text: '{"a":1}',
  };

  once('goes to a file, with types and JSON as text', async () => {
    const out = join(temporaryFolder(), 'answer.parquet');
    expect(await query([...ARGS, '--out', out])).toBe('');
    expect(await readParquet(out)).toEqual([ROW]);
  });

  once('goes to a pipe, but not to a terminal', async () => {
    const out = join(temporaryFolder(), 'piped.parquet');
    writeFileSync(out, (await run(['query', ...ARGS, '--warehouse', warehouse.path])).bytes);
    expect(await readParquet(out)).toEqual([ROW]);
    expect(await refusal(ARGS, { isTTY: true })).toContain('Parquet cannot be printed to a terminal');
  });
});

describe('--out', () => {
  once('takes the format of its extension, never over an existing file unless forced', async () => {
    const out = join(temporaryFolder(), 'answer.JSON');
    const args = ['--sql', 'select 1 as n', '--out', out];
    expect(await query(args)).toBe('');
    writeFileSync(out, 'precious');
    expect(await refusal(args)).toContain(`${out} already exists`);
    expect(readFileSync(out, 'utf8')).toBe('precious');
    await query([...args, '--force']);
    expect(readFileSync(out, 'utf8')).toBe('[\n  {"n":1}\n]\n');
    expect(await query(['--sql', 'select 1 as n', '--format', 'csv', '--out', '-'])).toBe('n\r\n1\r\n');
  });

  once('says why there are no rows in it', async () => {
    const out = join(temporaryFolder(), 'lost.xlsx');
    const { stderr } = await run(['query', 'deindexed_pages', '--out', out, '--warehouse', warehouse.path]);
    expect(stderr).toMatch(/^indexhouse: no rows to .*\nindexhouse: There is one snapshot, and two are needed/m);
  });

  once('is never a file of the warehouse, even where it is forced', async () => {
    const out = join(warehouse.path, 'own.csv');
    expect(await refusal(['--sql', 'select 1 as n', '--out', out, '--force'])).toBe(
      `${out} is inside the warehouse ${warehouse.path}: choose a path outside of it`,
    );
    expect(existsSync(out)).toBe(false);
  });

  once('leaves nothing of an answer that fails half-way', async () => {
    const out = join(temporaryFolder(), 'answer.csv');
    const failing = "select if(range = 9999, 'x', '1')::integer as n from range(10000)";
    expect(await refusal(['--sql', failing, '--format', 'csv', '--out', out])).toContain('--sql: Conversion Error');
    expect(existsSync(out)).toBe(false);
  });
});
