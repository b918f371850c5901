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

it.each([
  ['https://www.example.com/caf%c3%a9', 'https://www.example.com/caf%C3%A9'],
  ['https://www.example.com/münchen', 'https://www.example.com/m%C3%BCnchen'],
  ['https://www.example.com', 'https://WWW.example.com:443/'],
])('a report in another spelling is that of the page: %s', (asked, answered) => {
  const judged = judgeReport(JSON.stringify(report(answered)), asked);
  expect(judged).toMatchObject({ outcome: 'fetched', record: { url: asked } });
});
