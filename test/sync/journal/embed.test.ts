import { beforeAll, describe, expect } from 'vitest';
import type { Engine } from '../../../src/base/storage/engine.js';
import { judgeReport, type ReportOutcome } from '../../../src/source/report.js';
import { ReportsJournal } from '../../../src/sync/journal/write-reports.js';
import type { JournalFolder } from '../../../src/warehouse/journal/folder.js';
import { readReports } from '../../../src/warehouse/journal/reports.js';
import { once } from '../../given/at-length.js';
import { atEnd, temporaryFolder } from '../../given/folder.js';
import { emptyJournal, openEngine, readByDuckDB } from './given.js';

const URL_ASKED = 'https://www.example.com/a?b=%2F&c=ä';
const AT = new Date('2026-01-01T00:00:00.000Z');
let engine: Engine;
let journal: JournalFolder;

beforeAll(async () => {
  const folder = temporaryFolder();
  engine = await openEngine(folder);
  atEnd(() => engine.close());
  journal = await emptyJournal(folder);
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

describe('a report in the journal', () => {
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
