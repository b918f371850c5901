import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { makeFolder } from '../../../src/base/storage/durable.js';
import { Engine } from '../../../src/base/storage/engine.js';
import { type JournalFolder, journalFolder } from '../../../src/warehouse/journal/folder.js';
import { viewJournal } from '../../../src/warehouse/log/stage/journal-views.js';

/** An empty journal below a folder, with both of the files that the statements over a journal read. */
export async function emptyJournal(folder: string, name = 'w'): Promise<JournalFolder> {
  const journal = journalFolder(folder, 'run', name);
  await makeFolder(journal.path);
  writeFileSync(journal.listing, '');
  writeFileSync(journal.reports, '');
  return journal;
}

export function openEngine(folder: string): Promise<Engine> {
  return Engine.open({ memoryLimit: 512e6, temporary: join(folder, 'duckdb') });
}

const anyRow = z.record(z.string(), z.unknown());
export type JournalRow = z.infer<typeof anyRow>;

/** What DuckDB reads of a journal, with the statements that staging uses. */
export async function readByDuckDB(engine: Engine, journal: JournalFolder, query: string): Promise<JournalRow[]> {
  await viewJournal(engine, journal);
  return engine.rows(anyRow, query);
}
