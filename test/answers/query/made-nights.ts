import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { findAnalysis } from '../../../src/answers/query/catalog.js';
import { valuesOf } from '../../../src/answers/query/parameters.js';
import { Engine } from '../../../src/base/storage/engine.js';
import { createTables, viewScript } from '../../../src/warehouse/log/folder/tables.js';
import { atEnd, temporaryFolder } from '../../given/folder.js';

const WEBSITE = 'w';

export interface MadeChange {
  url: string;
  change: string;
  from: string | null;
  to: string | null;
  /** Whether the page was not crawled since the night before. */
  uncrawled?: boolean;
}

/** What changed in a snapshot, without the listing itself: enough for what is made of changes and counts alone. */
export interface MadeNight {
  /** `YYYY-MM-DD`. */
  date: string;
  partial?: boolean;
  changes: MadeChange[];
}

/** The versions of pages that such changes come with. */
const VERSIONS = `create view page_versions as
  select
    snapshot_id,
    website_id,
    snapshot_date,
    observed_at,
    url,
    null::timestamptz as last_crawl_time,
    case
      when bool_or(change = 'disappeared') then 'gone'
      else if(bool_or(index_step(change, from_value, to_value) = 1), 'indexed', 'not_indexed')
    end as status,
    case
      when bool_or(change = 'appeared') then null
      else if(bool_or(index_step(change, from_value, to_value) = -1), 'indexed', 'not_indexed')
    end as was_status,
    any_value(from_value) filter (change = 'coverage_state') as was_index_coverage_state,
    any_value(to_value) filter (change = 'coverage_state') as index_coverage_state,
    list_concat(list(change), if(any_value(is_uncrawled), [], ['crawled'])) as changes
  from changes_made
  group by all`;

const anyRow = z.record(z.string(), z.unknown());

/** Analyses over nights that a test makes up, in an engine of its own: a year of them takes a second. */
export class MadeNights {
  private constructor(
    private readonly engine: Engine,
    private readonly folder: string,
  ) {}

  static async open(): Promise<MadeNights> {
    const folder = temporaryFolder();
    const engine = await Engine.open({ memoryLimit: 512e6, temporary: folder });
    atEnd(() => engine.close());
    await createTables(engine);
    for (const statement of [
      // The views stand on tables whose rows need not have all columns.
      'create or replace table snapshots as select * from snapshots',
      viewScript('UTC'),
      'create table changes_made as select * from page_changes',
      'create or replace view page_changes as from changes_made',
      'drop table page_versions',
      VERSIONS,
    ])
      await engine.run(statement);
    return new MadeNights(engine, folder);
  }

  /** The rows of an analysis over these nights. */
  async ask(nights: readonly MadeNight[], name: string, given: Record<string, string> = {}) {
    const analysis = findAnalysis(name);
    const snapshots = nights.map(({ date, partial }) => ({
      ...idsOf(date),
      listing_status: partial ? 'partial' : 'complete',
      files: '{"coverage_summary": {}}',
    }));
    const changes = nights.flatMap(({ date, changes }) =>
      changes.map(({ url, change, from, to, uncrawled = false }) => {
        const ids = idsOf(date);
        const values = { change, from_value: from, to_value: to, is_uncrawled: uncrawled };
        return { ...ids, snapshot_id: date, observed_at: ids.snapshot_at, url, ...values };
      }),
    );
    await this.#fill('snapshots', snapshots);
    await this.#fill('changes_made', changes);
    const values = valuesOf(analysis, new Map(Object.entries(given)), nights.at(-1)?.date ?? '');
    return this.engine.rows(anyRow, analysis.sql, values);
  }

  async #fill(table: string, rows: object[]): Promise<void> {
    const file = join(this.folder, `${table}.json`);
    writeFileSync(file, rows.map((row) => JSON.stringify(row)).join('\n'));
    await this.engine.run(`delete from ${table}`);
    await this.engine.run(
      `insert into ${table} by name select * from read_json('${file}', format = 'newline_delimited')`,
    );
  }
}

function idsOf(date: string) {
  return { snapshot_id: date, website_id: WEBSITE, snapshot_at: `${date}T02:00:00Z`, snapshot_date: date };
}
