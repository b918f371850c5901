import { beforeAll, describe, expect, it } from 'vitest';
import { escaped, pageLink, shortened } from '../../../src/answers/html/html.js';
import { reportMail } from '../../../src/answers/report/mail.js';
import { givenWarehouse, indexed, out, reportOf } from './given.js';
import { parsed } from './parsed.js';

const MARKUP = `"'><script>alert(1)</script><img src=x onerror=alert(2)>]]></style></svg><!--`;
const HOSTILE = [
  `https://evil.example/${MARKUP.replaceAll(' ', '/')}/a`,
  `https://evil.example/blog/\u202egnp.exe`,
  `https://evil.example/\u009b2J/b`,
  `https://evil.example/${'long/'.repeat(1200)}end`,
  `https://evil.example/\${alert(3)}/{{4}}/&lt;b&gt;/c`,
];
/** An absolute URL to the contract. */
const SCRIPT_LINK = 'javascript://evil.example/%0aalert(5)';

const evil = givenWarehouse([
  { at: '2025-03-01T02:00:00Z', lists: { [MARKUP]: HOSTILE.map((url) => indexed(url)) } },
  {
    at: '2025-03-02T02:00:00Z',
    lists: {
      [MARKUP]: HOSTILE.map((url, at) => (at % 2 === 0 ? out(url, `${MARKUP}${at}`) : indexed(url, SCRIPT_LINK))),
    },
  },
]);

/** Those that a document may have; in none of them a script runs. */
const TAGS =
  'html head meta title style body header main footer section div span p br h1 h2 h3 h4 a b small code ul li dl dt dd ' +
  'details summary table caption thead tbody tr th td svg g path polygon polyline rect text desc defs clippath';

let page = '';
let mail = '';

describe('a report on hostile pages', () => {
  beforeAll(async () => {
    const made = await reportOf(evil);
    page = made.page;
    mail = reportMail(made.report);
  });

  it('holds no script, no handler and nothing from elsewhere, in HTML and in its drawings', () => {
    const { tags, attributes, text } = parsed(page);
    expect([...tags].filter((tag) => !TAGS.split(' ').includes(tag))).toEqual([]);
    expect(
      attributes.filter(({ name }) => name.startsWith('on') || name === 'src' || name.startsWith('xlink')),
    ).toEqual([]);
    const links = attributes.filter(({ name }) => name === 'href');
    expect(links.length).toBeGreaterThan(0);
    for (const { tag, value } of links) expect([tag, value]).toEqual(['a', expect.stringMatching(/^https?:\/\//)]);
    // A style may use what the document itself defines, and load nothing.
    expect(page.replace(/url\(#[\w-]+\)/g, '')).not.toMatch(/url\(|@import/);
    expect(text).toContain('<script>alert(1)</script>');
    const policy = expect.stringMatching(/^default-src 'none'; style-src 'unsafe-inline'; img-src data:/);
    expect(attributes).toContainEqual({ tag: 'meta', name: 'content', value: policy });
    expect(text).toContain('\\u202egnp.exe');
    expect(text).toContain(SCRIPT_LINK);
    expect(page).not.toMatch(/[\u202e\u009b]/);
  });

  it('holds no markup of theirs as a mail either, nor anything that mail programs drop', () => {
    const { tags, attributes, text } = parsed(mail);
    const known = 'html head meta title body h2 h3 h4 p table tr th td'.split(' ');
    expect([...tags].filter((tag) => !known.includes(tag))).toEqual([]);
    const names = attributes.map(({ name }) => name);
    expect(names.filter((name) => !['lang', 'charset', 'name', 'content', 'style'].includes(name))).toEqual([]);
    expect(text).toContain('How ');
    expect(mail).not.toMatch(/[\u202e\u009b]/);
  });

  it('stays small where addresses are long', () => {
    expect(page.length).toBeLessThan(150_000);
    expect(page).not.toContain('long/'.repeat(200));
  });
});

describe('the address of a page', () => {
  it('is a link that gives its target nothing only where it is one to the web', () => {
    expect(pageLink('https://a.example/?a=1&b="2"').text).toBe(
      '<a class="url" href="https://a.example/?a=1&amp;b=&quot;2&quot;" rel="noopener noreferrer">' +
        'https://a.example/?a=1&amp;b=&quot;2&quot;</a>',
    );
    for (const url of [SCRIPT_LINK, 'data:text/html,x', ' https://a.example', 'https://', 'https://a.example/\u202e']) {
      expect(pageLink(url).text).toMatch(/^<span /);
    }
  });

  it('leaves out the host only where that is the host of the page beside it', () => {
    const shown = (url: string) => /([^>]*)<\/a>/.exec(pageLink(url, 80, 'https://a.example/x').text)?.[1];
    expect(shown('https://a.example/y')).toBe('/y');
    for (const other of ['https://a.example.evil/y', 'http://a.example/y']) expect(shown(other)).toBe(other);
  });

  it('is shortened between whole characters', () => {
    expect(shortened(`${'😀'.repeat(60)}end`, 11)).toBe('😀😀😀😀😀…😀😀end');
    expect(escaped(`a<b>&"'\u0000\n`)).toBe('a&lt;b&gt;&amp;&quot;&#39;\\x00\\n');
  });
});
