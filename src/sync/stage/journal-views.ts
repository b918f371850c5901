import { appendFile } from 'node:fs/promises';
import { z } from 'zod';
import { sizeOf } from '../../base/storage/durable.js';
import { Engine, type EngineOptions } from '../../base/storage/engine.js';
import { identifier, sql, sqlScript } from '../../base/storage/sql.js';
import { coverageEntrySchema } from '../../source/contract/coverage.js';
import { sqlType } from '../../source/contract/fields.js';
import { KNOWN_VALUES, SEARCH_CONSOLE_EXTRA } from '../../source/contract/known-values.js';
import { urlReportSchema } from '../../source/contract/report.js';
import type { JournalFolder } from '../../warehouse/journal/folder.js';
import { REASONS } from '../../warehouse/journal/plan.js';
import type { Column } from '../../warehouse/log/folder/tables.js';
import { ownColumnsOf } from '../../warehouse/log/stage/comparison.js';

/** Bytes of a listing whose journal may stay in memory while reports are fetched: some 10,000 pages. */
const SMALL_LISTING = 4e6;

const JOURNAL = ofStage('journal_listing', 'journal_reports', 'journal_search', 'search_pages');
const WALK_LINES = ofStage('walk_lines', 'journal_windows');
const KEPT_WALK = ofStage('kept_entries', 'doubled_urls', 'listed_entries');
const ODD_RECORDS = ofStage('odd_entries', 'odd_reports');

function ofStage(...names: string[]): string[] {
  return names.map((name) => `sync/stage/${name}`);
}

/** Creates the views over a journal on disk. */
export async function viewJournal(engine: Engine, folder: JournalFolder): Promise<void> {
  // The statements read these files, so they must exist.
  for (const file of [folder.listing, folder.reports, folder.search]) await appendFile(file, '');
  const files = { listing_file: folder.listing, reports_file: folder.reports, search_file: folder.search };
  await engine.set({ ...files, ...contractVariables() });
  await engine.run(sqlScript(JOURNAL));
}

/** What the statements of `sql/sync/stage` know of the contract. */
export function contractVariables() {
  return {
    entry_type: sqlType(coverageEntrySchema),
    report_type: sqlType(urlReportSchema),
    source_type: structType(ownColumnsOf('listing_sources')),
    reasons: REASONS,
    known_fields: Object.values(KNOWN_VALUES).flatMap((fields) => Object.keys(fields)),
    known_values: knownValues(),
    search_console_extra: SEARCH_CONSOLE_EXTRA,
  };
}

/**
 * One engine over a website's journal. It is opened with the views of the journal at its first use, and loads a walk
 * once for any number of queries in a row.
 */
export class JournalEngine {
  #engine: Engine | null = null;
  #walk: number | null = null;
  /** What is left out of the run, and why; null if nothing is. */
  lacks: string | null = null;

  constructor(
    private readonly folder: JournalFolder,
    private readonly options: EngineOptions,
    /** Runs a piece of work when it is its turn, if several share DuckDB's memory. */
    private readonly inTurn: <T>(work: () => Promise<T>) => Promise<T> = (work) => work(),
  ) {}

  /** @param walk the walk that `listed_entries` is to hold; null: any */
  use<T>(walk: number | null, work: (engine: Engine) => Promise<T>): Promise<T> {
    return this.inTurn(async () => {
      const engine = await this.#opened();
      // The setting is global: another website's commit may have reset it.
      await engine.run(sql('sync/stage/joins_as_written'));
      if (walk !== null && walk !== this.#walk) await viewKeptWalk(engine, walk);
      this.#walk = walk ?? this.#walk;
      return work(engine);
    });
  }

  /** Releases the memory of a large journal until the next use. Opening a small one again would cost more. */
  async rest(): Promise<void> {
    if ((await sizeOf(this.folder.listing)) > SMALL_LISTING) this.close();
  }

  /** Releases its memory; the next use opens it again. */
  close(): void {
    this.#engine?.close();
    this.#engine = null;
    this.#walk = null;
  }

  async #opened(): Promise<Engine> {
    if (this.#engine) return this.#engine;
    this.#engine = await Engine.open(this.options);
    await viewJournal(this.#engine, this.folder);
    return this.#engine;
  }
}

const walkOddities = z.object({ has_odd_entries: z.boolean(), has_doubled_urls: z.boolean() });

/** Creates the view `listed_entries`: what one walk of the journal lists, each page once. */
async function viewKeptWalk(engine: Engine, walk: number): Promise<void> {
  await engine.set({ walk });
  await engine.run(sqlScript(WALK_LINES));
  const [oddities] = await engine.rows(walkOddities, sql('sync/stage/walk_oddities'));
  if (oddities) await engine.set(oddities);
  await engine.run(sqlScript(KEPT_WALK));
}

/**
 * Creates `odd_entries` and `odd_reports`, the records of the kept walk and the reports that are not plain: the journal
 * is large, and these are queried several times.
 */
export async function keepOddRecords(engine: Engine): Promise<void> {
  await engine.run(sqlScript(ODD_RECORDS));
}

const fingerprintRow = z.object({ pages: z.int(), rejected: z.int(), fingerprint: z.string() });
export type WalkFingerprint = z.infer<typeof fingerprintRow>;

/**
 * How many pages the kept walk lists, how many were rejected, and a value that is equal for two walks that list the
 * same.
 */
export async function walkFingerprint(engine: Engine): Promise<WalkFingerprint> {
  const [row] = await engine.rows(fingerprintRow, sql('sync/stage/listing_fingerprint'));
  return row ?? { pages: 0, rejected: 0, fingerprint: '' };
}

function structType(columns: readonly Column[]): string {
  return `STRUCT(${columns.map(({ name, type }) => `${identifier(name)} ${type}`).join(', ')})`;
}

/** Such as `coverage index_summary=Indexed`. */
function knownValues(): string[] {
  return Object.entries(KNOWN_VALUES).flatMap(([source, fields]) =>
    Object.entries(fields).flatMap(([field, values]) => values.map((value) => `${source} ${field}=${value}`)),
  );
}
