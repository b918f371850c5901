import { describe, expect, it } from 'vitest';
import { urlReportSchema } from '../../src/source/contract/report.js';
import { judgeReport } from '../../src/source/report.js';

const PAGE = 'https://www.example.com/a';
/** Every field in the contract's order, so that the text is a plain one. */
const report = (url: string) => ({
  ...Object.fromEntries(Object.keys(urlReportSchema.shape).map((name) => [name, null])),
  url,
});

describe('judgeReport', () => {
  it('takes the page that was asked for, plain or not', () => {
    expect(judgeReport(JSON.stringify(report(PAGE)), PAGE)).toMatchObject({ outcome: 'fetched', record: null });
    const spaced = JSON.stringify(report(PAGE), null, 1);
    expect(judgeReport(spaced, PAGE)).toMatchObject({ outcome: 'fetched', record: report(PAGE) });
  });

  it.each([
    ['another page', PAGE, `${PAGE}b`],
    ['a page whose URL begins like it', `${PAGE}b`, PAGE],
    // As text, both reports begin with the same characters.
    ['a page whose URL goes on as the next field', PAGE, `${PAGE}","index_summary":null,"x`],
    ['the page that the URL asked for begins with', `${PAGE}","index_summary":"x`, PAGE],
  ])('refuses the report of %s', (_, asked, answered) => {
    const text = JSON.stringify({ ...report(answered), index_summary: 'x' });
    expect(judgeReport(text, asked)).toMatchObject({ outcome: 'rejected', issues: [{ code: 'url_mismatch' }] });
  });
});
