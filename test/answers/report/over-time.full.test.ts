import { beforeAll, describe, expect, it, test } from 'vitest';
import { escaped, pageLink, shortened } from '../../../src/answers/html/html.js';
import { reportMail, reportPage } from '../../../src/answers/report/page.js';
import { broken, givenWarehouse, indexed, out, reportOf } from './given.js';
import { parsed, words } from './parsed.js';

const MARKUP = `"'><script>alert(1)</script><img src=x onerror=alert(2)>]]></style></svg><!--`;
const HOSTILE = [
  `https://evil.example/${MARKUP.replaceAll(' ', '/')}/a`,
  `https://evil.example/blog/\u202egnp.exe`,
  `https://evil.example/\u009b2J/b`,
  `https://evil.example/${'long/'.repeat(1200)}end`,
];
/** An absolute URL to the contract. */
const SCRIPT_LINK = 'javascript://evil.example/%0aalert(5)';

const pagesOf = (directory: string, pages: number, fallen = 0) =>
  Array.from({ length: pages }, (_, at) => `https://shop.example/${directory}/${at}`).map((url, at) =>
    at < fallen ? out(url, 'Soft 404') : indexed(url),
  );
const NAME = MARKUP.slice(0, 20);
const listed = (blog: number, docs: number) => ({
  shop: [...pagesOf('blog', 12, blog), ...pagesOf('docs', 8, docs), ...pagesOf(NAME, 5), out('https://shop.example/')],
});

const evil = (falls: boolean) =>
  HOSTILE.map((url, at) =>
    falls && at % 2 === 0 ? out(url, `${MARKUP}${at}`) : indexed(url, falls ? SCRIPT_LINK : url),
  );

/**
 * Two pages of the docs fall out in the week before the last one, of which one comes back; then seven of the blog. Pages
 * of another website, whose addresses and states are markup, fall out on the last night.
 */
const built = givenWarehouse([
  { at: '2025-01-05T02:00:00Z', lists: listed(0, 0) },
  { at: '2025-03-03T02:00:00Z', lists: listed(0, 2) },
  { at: '2025-03-10T02:00:00Z', lists: { ...listed(0, 1), [MARKUP]: evil(false) } },
  { at: '2025-03-11T02:00:00Z', lists: { shop: [broken('https://shop.example/blog/1')] } },
  { at: '2025-03-12T02:00:00Z', lists: { ...listed(7, 1), [MARKUP]: evil(true) }, maxRejectRatio: 1 },
]);

/** Those that a document may have; in none of them a script runs. */
const TAGS =
  'html head meta title style body header main footer section div span p br h1 h2 h3 h4 a b small code ul li dl dt dd ' +
  'details summary table caption thead tbody tr th td svg g path polygon polyline rect text desc defs clippath';

let last: Awaited<ReturnType<typeof reportOf>>;
beforeAll(async () => {
  last = await reportOf(built, { website: 'shop' });
});

describe('what a report shows over time', () => {
  test('the heat map has the counts of each listing, night by night, and marks what changed much', () => {
    const { report, page } = last;
    const { heat = [], columns = [], step, layers = [] } = report.sections[0]?.over_time ?? {};
    expect([step, columns[0], columns.length]).toEqual([1, '2025-01-05', 67]);
    // What lost most comes first; nights without a complete listing are empty.
    const counts = heat.map(({ directory, cells }) => [
      directory,
      ...cells.flatMap((cell) => (cell ? [`${cell.indexed}/${cell.pages}${cell.isMarked ? '!' : ''}`] : [])),
    ]);
    expect(counts).toEqual([
      ['/blog/', '12/12', '12/12', '12/12', '5/12!'],
      ['/docs/', '8/8', '6/8', '7/8', '7/8'],
      [`/${NAME}/`, '5/5', '5/5', '5/5', '5/5'],
      ['/', '0/1', '0/1', '0/1', '0/1'],
    ]);
    expect(heat[0]?.cells.at(-2)).toBeNull();
    expect(heat[0]?.cells.at(-1)).toMatchObject({ date: '2025-03-12', since: '2025-03-10', change: -7 });
    expect(layers.map(({ name, pages }) => `${name} ${pages.at(-2)} ${pages.at(-1)}`)).toEqual([
      ...['Soft 404 null 8', 'Crawled - currently not indexed null 1', 'Submitted and indexed null 17'],
    ]);
    const titles = parsed(page).attributes.filter(({ name }) => name === 'title');
    expect(titles.map(({ value }) => value.replaceAll('\u00a0', ' '))).toContain(
      'Mar 12: 5 of 12 pages indexed (41.7%), −7 since Mar 10',
    );
  });

  test('a long period is drawn week by week, and its columns end with its last date', async () => {
    const { report } = await reportOf(built, { website: 'shop', since: '2024-12-01' });
    const { columns, step } = report.sections[0]?.over_time ?? {};
    expect([step, columns?.[0], columns?.at(-1)]).toEqual([7, '2025-01-08', '2025-03-12']);
  });

  test('the first page summarizes all, says what is new, and is the whole of a brief report', () => {
    const { report, page } = last;
    const [whole, brief] = [words(page), words(reportPage(report, true))];
    for (const shown of [whole, brief, words(reportMail(report))]) {
      expect(shown).toContain('New since the 7 days before: losses in /blog/, to “Soft 404”.');
      expect(shown).toContain('Of the 2 pages that fell out in the 7 days before, 1 is indexed again.');
      expect(shown).toContain('What to look at first');
    }
    expect(whole.slice(0, whole.indexOf(' Appendix')).trim()).toBe(brief.trim());
    expect(brief).not.toContain('Data quality');
  });
});

test('a report on hostile pages holds no script, no handler and nothing from elsewhere, as a page and as a mail', async () => {
  const { report, page } = await reportOf(built, { website: MARKUP });
  const { tags, attributes, text } = parsed(page);
  expect([...tags].filter((tag) => !TAGS.split(' ').includes(tag))).toEqual([]);
  const loading = attributes.filter(({ name }) => name.startsWith('on') || name === 'src' || name.startsWith('xlink'));
  expect(loading).toEqual([]);
  const links = attributes.filter(({ name }) => name === 'href');
  expect(links.length).toBeGreaterThan(0);
  for (const { tag, value } of links) expect([tag, value]).toEqual(['a', expect.stringMatching(/^https?:\/\//)]);
  // A style may use what the document itself defines, and load nothing.
  expect(page.replace(/url\(#[\w-]+\)/g, '')).not.toMatch(/url\(|@import/);
  const policy = expect.stringMatching(/^default-src 'none'; style-src 'unsafe-inline'; img-src data:/);
  expect(attributes).toContainEqual({ tag: 'meta', name: 'content', value: policy });
  for (const shown of ['<script>alert(1)</script>', '\\u202egnp.exe', SCRIPT_LINK]) expect(text).toContain(shown);
  // It stays small where addresses are long.
  expect(page.length).toBeLessThan(150_000);
  expect(page).not.toContain('long/'.repeat(200));

  const mail = reportMail(report);
  const known = 'html head meta title body h2 h3 h4 p table tr th td'.split(' ');
  expect([...parsed(mail).tags].filter((tag) => !known.includes(tag))).toEqual([]);
  const names = parsed(mail).attributes.map(({ name }) => name);
  expect(names.filter((name) => !['lang', 'charset', 'name', 'content', 'style'].includes(name))).toEqual([]);
  for (const document of [page, mail]) expect(document).not.toMatch(/[\u202e\u009b]/);
});

describe('the address of a page', () => {
  it('is a link that gives its target nothing only where it is one to the web', () => {
    const address = 'https://a.example/?a=1&amp;b=&quot;2&quot;';
    expect(pageLink('https://a.example/?a=1&b="2"').text).toBe(
      `<a class="url" href="${address}" rel="noopener noreferrer">${address}</a>`,
    );
    for (const url of [SCRIPT_LINK, 'data:text/html,x', ' https://a.example', 'https://', 'https://a.example/\u202e']) {
      expect(pageLink(url).text).toMatch(/^<span /);
    }
  });

  it('is shortened between whole characters', () => {
    expect(shortened(`${'😀'.repeat(60)}end`, 11)).toBe('😀😀😀😀😀…😀😀end');
    expect(escaped(`a<b>&"'\u0000\n`)).toBe('a&lt;b&gt;&amp;&quot;&#39;\\x00\\n');
  });
});
