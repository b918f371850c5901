import { expect, it } from 'vitest';
import { urlReportSchema } from '../../src/source/contract/report.js';
import { judgeReport } from '../../src/source/report.js';

const PAGE = 'https://www.example.com/a';
const report = (url: string) => ({
  ...Object.fromEntries(Object.keys(urlReportSchema.shape).map((name) => [name, null])),
  url,
});

it('a report is of the page that was asked for, and of no other', () => {
  const text = JSON.stringify(report(PAGE), null, 1);
  expect(judgeReport(text, PAGE)).toMatchObject({ outcome: 'fetched', record: report(PAGE) });
  expect(judgeReport(text, `${PAGE}b`)).toMatchObject({ outcome: 'rejected', issues: [{ code: 'url_mismatch' }] });
});
