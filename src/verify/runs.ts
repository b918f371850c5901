import { z } from 'zod';
import { unfinishedJournals } from '../journal/folder.js';
import type { Engine } from '../storage/engine.js';
import { listTableFiles } from '../warehouse/layout.js';
import { tableQuery } from '../warehouse/prepare.js';
import { damaged, type Finding } from './finding.js';

const committedRow = z.object({ run_id: z.string(), website_id: z.string(), snapshot_id: z.string() });
export type CommittedRun = z.infer<typeof committedRow>;

/** The rows of `runs`, as far as their files can be read. */
export interface RunsRead {
  files: string[];
  /** Those that say that a snapshot was committed. */
  committed: CommittedRun[];
  /** `<run id>/<website id>` of runs that are not finished: their row is still to come. */
  unfinished: string[];
  findings: Finding[];
}

/** Reads each file of `runs`; one that cannot be read is a finding. */
export async function readRuns(engine: Engine, warehouse: string, schemas: string): Promise<RunsRead> {
  // Before the rows: a journal is dropped behind its run's row, so one of both is always seen.
  const journals = await unfinishedJournals(warehouse);
  const unfinished = journals.map(({ runId, websiteId }) => `${runId}/${websiteId}`);
  const files = await listTableFiles(warehouse, 'runs');
  try {
    return { files, committed: await committedIn(engine, schemas, files), unfinished, findings: [] };
  } catch {
    return { unfinished, ...(await readOneByOne(engine, schemas, files)) };
  }
}

async function readOneByOne(engine: Engine, schemas: string, all: string[]): Promise<Omit<RunsRead, 'unfinished'>> {
  const read: Omit<RunsRead, 'unfinished'> = { files: [], committed: [], findings: [] };
  for (const file of all) {
    try {
      read.committed.push(...(await committedIn(engine, schemas, [file])));
      read.files.push(file);
    } catch (error) {
      read.findings.push(damaged(`${file} cannot be read: ${error instanceof Error ? error.message : error}`));
    }
  }
  return read;
}

function committedIn(engine: Engine, schemas: string, files: string[]): Promise<CommittedRun[]> {
  const query = `select run_id, website_id, snapshot_id from (${tableQuery(schemas, 'runs', files)})
    where outcome = 'committed'`;
  return engine.rows(committedRow, query);
}
