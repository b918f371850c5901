import { join } from 'node:path';
import { createLogger } from '../../src/base/observe/log.js';
import { rebuildDuckdb } from '../../src/warehouse/copies/duckdb.js';
import { listTableFiles, namesIn, stateFolder } from '../../src/warehouse/log/folder/layout.js';
import type { Table } from '../../src/warehouse/log/folder/tables.js';
import { addNote } from '../../src/warehouse/upkeep/note.js';
import { commitInspected } from './inspected.js';
import { givenNights, type Night, urlOf } from './nights.js';
import { maintainAt } from './thinned.js';
import { configFor } from './warehouse.js';

const MEMORY_BYTES = 256e6;

/** Paths that are hard to write down, in a shell, in SQL, in CSV, and in JSON. */
const HOSTILE_NAMES = [
  "it's?q=%27%22&x=1;--",
  '%E6%97%A5%E6%9C%AC',
  'straße/ÄÖÜ/日本語/🏠',
  'e\u0301-is-not-\u00e9',
  '=HYPERLINK("a")',
  '{{x}}<b>&amp;</b>\\n\u202e',
];

function nightsOf(): Night[] {
  const hostile = Object.fromEntries(
    HOSTILE_NAMES.map((name, at) => [
      name,
      { index_summary: 'Indexed', index_coverage_state: `"Submitted"\n\t${name}`, days_since_last_crawl: -at },
    ]),
  );
  const crawled = { last_crawl_time: '2025-02-28T23:59:59.999Z', canonicals_match: false };
  return [
    {
      list: {
        ...hostile,
        a: { index_summary: 'Indexed', ...crawled, searchengine_selected_canonical: urlOf('x,"y"') },
        none: {},
        unknown: { index_summary: 'Indexed', colour: { name: 'räd', list: [1, null, 'x"y'] }, note: null },
        lists: { index_summary: 'Indexed' },
      },
      reports: {
        a: { sitemaps: [], inspection_date: '1999-12-31T00:00:00.001Z', blocked_by_robots_txt: 'No' },
        lists: { sitemaps: [urlOf('s.xml'), urlOf("straße's.xml")], weight: 1.5 },
        none: 404,
        unknown: 403,
      },
    },
    {
      list: {
        a: { index_summary: 'Not Indexed' },
        b: { index_summary: 7 },
        none: { index_summary: 'Indexed' },
        lists: {},
      },
      reports: { b: { sitemaps: ['no URL'] }, lists: { sitemaps: null, blocked_by_robots_txt: 'Yes' } },
    },
  ];
}

/** A small warehouse in which every table of its sources has rows, with values that readers get wrong. */
export async function givenEveryTable(sources: 'api' | 'both' = 'api'): Promise<string> {
  const nights = await givenNights();
  for (const night of nightsOf()) await nights.night(night);
  const { warehouse } = nights;
  if (sources === 'both') {
    const counts = { entries: 1, pages: 1, only_here: 1, pages_before: 0, pages_unnamed: 0 };
    const named = { source: urlOf('sitemap,"ä".xml'), kind: 'sitemap', named_by: ['Search Console'], ...counts };
    const items = [{ name: 'ä', issues: [{ issueMessage: 'Missing "ä,\n"', severity: 'ERROR' }] }];
    const richResultsResult = { verdict: 'FAIL', detectedItems: [{ richResultType: 'Products, "ä"', items }] };
    const extra = { '/ä': { richResultsResult, referringUrls: [urlOf("straße's")] } };
    const inspects = { '/ä': 'Submitted and indexed' };
    const night = { lists: ['/ä'], inspects, extra, clicks: { '/ä': 7 }, sources: [named] };
    await commitInspected(warehouse, [night]);
  }
  await rebuildDuckdb({ warehouse, memoryLimit: MEMORY_BYTES });
  const config = configFor({ baseUrl: 'http://127.0.0.1:1', warehouse });
  const noted = { websites: ['w'], note_date: '2025-03-01', directory: '/straße/', note: HOSTILE_NAMES.join(' ') };
  const logger = createLogger({ level: 'silent' });
  const { note_id } = await addNote(config, { ...noted, removes: null }, logger);
  await addNote(config, { ...noted, directory: null, note: null, removes: note_id }, logger);
  await maintainAt(warehouse, { retention: '1d', now: Date.now() });
  return warehouse;
}

/** The Parquet files of a table; of the state of pages, the newest one. */
export async function filesOfTable(warehouse: string, table: Table): Promise<string[]> {
  if (table !== 'page_state') return listTableFiles(warehouse, table);
  const folder = stateFolder(warehouse, 'w');
  const newest = (await namesIn(folder)).at(-1);
  return newest === undefined ? [] : [join(folder, newest)];
}
