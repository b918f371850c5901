import { writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Engine } from '../../../src/base/storage/engine.js';
import { urlReportSchema } from '../../../src/source/contract/report.js';
import { judgeReport, type ReportOutcome } from '../../../src/source/report.js';
import type { JournalFolder } from '../../../src/warehouse/journal/folder.js';
import { readPlan } from '../../../src/warehouse/journal/plan.js';
import { ReportsJournal, readReports } from '../../../src/warehouse/journal/reports.js';
import { atLength, once } from '../../given/at-length.js';
import { temporaryFolder } from '../../given/folder.js';
import { emptyJournal, openEngine, readByDuckDB } from './given.js';

const URL_ASKED = 'https://www.example.com/a?b=%2F&c=ä';
const AT = new Date('2026-01-01T00:00:00.000Z');
const clean: (() => void)[] = [];
let engine: Engine;
let journal: JournalFolder;

beforeAll(async () => {
  const folder = temporaryFolder((each) => clean.push(each));
  engine = await openEngine(folder);
  journal = await emptyJournal(folder);
});
afterAll(() => {
  engine.close();
  for (const each of clean) each();
});

async function journaled(outcomes: ReportOutcome[]) {
  const written = new ReportsJournal(journal);
  for (const outcome of outcomes) await written.record({ url: URL_ASKED, reason: 'new' }, outcome, AT);
  written.close();
  return readByDuckDB(
    engine,
    journal,
    'select kind, report, extra::json::varchar as extra, issues::json::varchar as issues, message, payload from journal_reports',
  );
}

/** Strings that are hard on a reader of lines of JSON. */
const hardText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom(
    '":',
    '"x":1',
    '\\',
    '\\u0041',
    '\n',
    '\r\n',
    '\u2028',
    '\u2029',
    '\u0000',
    '\ud83d\ude00',
    '\ud800',
    '\udc00x',
    '{',
    ']',
  ),
);
const texts = ['index_summary', 'index_coverage_state', 'indexing_allowed', 'page_fetch_status', 'previously_indexed'];
const unknownName = fc.oneof(
  hardText,
  fc.constantFrom('URL', 'Index_Summary', 'constructor', '__proto__', 'toString', ''),
);

/** The JSON text of a report: members in any order, with white space, escapes and doubled keys. */
const reportText = fc
  .record({
    known: fc.array(fc.tuple(fc.constantFrom(...texts), fc.option(hardText))),
    days: fc.option(fc.constantFrom('0', '-0', '3', '2147483647', '1e2', '12.0')),
    crawled: fc.option(
      fc.constantFrom('2026-01-01T02:03:04Z', '0001-01-01T00:00:00.123456Z', '9999-12-31T23:59:59.9Z'),
    ),
    unknown: fc.array(fc.tuple(unknownName, fc.oneof(fc.jsonValue(), hardText)), { maxLength: 3 }),
    numbers: fc.option(fc.constantFrom('1e400', '-1e400', '123456789012345678901234567890', '0.1e-7')),
    space: fc.constantFrom('', ' ', '\n', '\r\n\t'),
    escapes: fc.boolean(),
    urlTwice: fc.boolean(),
  })
  .map(({ known, days, crawled, unknown, numbers, space, escapes, urlTwice }) => {
    const quoted = (text: string) => (escapes ? escapedEverywhere(text) : JSON.stringify(text));
    const members = [
      ...(urlTwice ? [`"url"${space}:${space}"https://www.example.com/other"`] : []),
      ...known.map(([name, value]) => `${quoted(name)}${space}:${space}${value === null ? 'null' : quoted(value)}`),
      ...(days === null ? [] : [`"days_since_last_crawl"${space}:${days}`]),
      ...(crawled === null ? [] : [`"last_crawl_time":${space}"${crawled}"`]),
      ...unknown.map(([name, value]) => `${quoted(name)}${space}:${JSON.stringify(value)}`),
      ...(numbers === null ? [] : [`"number":${numbers}`]),
      `"url":${space}${JSON.stringify(URL_ASKED)}`,
    ];
    return `${space}{${space}${members.join(`${space},${space}`)}${space}}${space}`;
  });

function escapedEverywhere(text: string): string {
  const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at).toString(16).padStart(4, '0'));
  return `"${units.map((unit) => `\\u${unit}`).join('')}"`;
}

function iso(value: unknown): unknown {
  return typeof value === 'string' ? new Date(value.replace(' ', 'T').replace(/\+00$/, 'Z')).toISOString() : value;
}

describe('a report in the journal', () => {
  it('is to DuckDB what it is to JavaScript, however its text is written', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(reportText, { minLength: 1, maxLength: 5 }), async (bodies) => {
        const outcomes = bodies.map((body) => judgeReport(body, URL_ASKED));
        const rows = await journaled(outcomes);
        expect(rows).toHaveLength(bodies.length);
        for (const [at, body] of bodies.entries()) {
          const row = rows[at];
          const parsed: Record<string, unknown> = JSON.parse(body);
          if (row?.['kind'] === 'rejected') {
            expect(JSON.stringify(parsed)).toMatch(/\\ud[89a-f]/);
            continue;
          }
          const report = row?.['report'] as Record<string, unknown>;
          for (const field of Object.keys(urlReportSchema.shape)) {
            const [read, meant] = [report[field], Object.hasOwn(parsed, field) ? parsed[field] : null];
            const same = field === 'last_crawl_time' ? [iso(read), iso(meant)] : [read, meant === 0 ? 0 : meant];
            expect({ [field]: same[0] }).toEqual({ [field]: same[1] });
          }
        }
      }),
      { numRuns: atLength(40, 150) },
    );
  });

  once('keeps its unknown fields, whatever their names', async () => {
    const body = `{"url":${JSON.stringify(URL_ASKED)},"constructor":1,"toString":{"a":[1]},"URL":"x","":"empty"}`;
    const [row] = await journaled([judgeReport(body, URL_ASKED)]);
    expect(JSON.parse(String(row?.['extra']))).toEqual({ constructor: 1, toString: { a: [1] }, URL: 'x', '': 'empty' });
  });

  once.each([
    ['arrays', `${'['.repeat(20_000)}${']'.repeat(20_000)}`],
    ['objects', `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`],
  ])('is refused where %s are nested deeper than can be written again', async (_, deep) => {
    const body = `{"url":${JSON.stringify(URL_ASKED)},"x":${deep}}`;
    const [row] = await journaled([judgeReport(body, URL_ASKED)]);
    expect(row).toMatchObject({ kind: 'rejected', payload: body });
    expect(String(row?.['issues'])).toContain('too_deep');
  });

  once('is refused where DuckDB could not read it back, and a refused text is cut', async () => {
    const flood = 'a'.repeat(40_000_000);
    const huge = `{"url":${JSON.stringify(URL_ASKED)},"x":"${flood}"}`;
    const rows = await journaled([judgeReport(huge, URL_ASKED), judgeReport(`<html>${flood}`, URL_ASKED)]);
    expect(rows.map(({ kind }) => kind)).toEqual(['rejected', 'rejected']);
    expect(String(rows[0]?.['issues'])).toContain('too_large');
    expect(rows.map(({ payload }) => String(payload).length)).toEqual([1_000_000, 1_000_000]);
  });
});

once('a failure whose message was cut in the middle of an emoji does not spoil the journal', async () => {
  const message = 'the service answered 500 (\ud83d';
  const rows = await journaled([
    { outcome: 'failed', status: 500, message },
    { outcome: 'rejected', issues: [{ path: '\ud800', code: 'x', message }], payload: message },
  ]);
  expect(rows[0]).toMatchObject({ kind: 'failed', message: 'the service answered 500 (\ufffd' });
  expect(rows[1]).toMatchObject({ kind: 'rejected', payload: 'the service answered 500 (\ufffd' });
  const { counts } = await readReports(journal);
  expect(counts).toMatchObject({ failed: 1, rejected: 1 });
});

once('a plan gives back every URL, line separators of Unicode included', async () => {
  const folder = temporaryFolder(onTestFinished);
  const plan = `${folder}/plan.ndjson`;
  const urls = ['https://e.com/\u2028a', 'https://e.com/\u2029', 'https://e.com/\u0085'];
  writeFileSync(plan, urls.map((url) => `${JSON.stringify({ url, reason: 'new' })}\n`).join(''));
  const read: string[] = [];
  for await (const { url } of readPlan(plan)) read.push(url);
  expect(read).toEqual(urls);
});
