import { z } from 'zod';
import { unfinishedJournals } from '../journal/folder.js';
import type { Engine } from '../storage/engine.js';
import { listTableFiles } from '../warehouse/layout.js';
import type { OpenWarehouse } from '../warehouse/open.js';
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
export async function readRuns(engine: Engine, log: OpenWarehouse): Promise<RunsRead> {
  // Before the rows: a journal is dropped behind its run's row, so one of both is always seen.
  const journals = await unfinishedJournals(log.path);
  const unfinished = journals.map(({ runId, websiteId }) => `${runId}/${websiteId}`);
  // Again: the list of the log is older than the journals.
  const files = await listTableFiles(log.path, 'runs');
  try {
    return { files, committed: await committedIn(engine, log, files), unfinished, findings: [] };
  } catch {
    return { unfinished, ...(await readOneByOne(engine, log, files)) };
  }
}

async function readOneByOne(engine: Engine, log: OpenWarehouse, all: string[]): Promise<Omit<RunsRead, 'unfinished'>> {
  const read: Omit<RunsRead, 'unfinished'> = { files: [], committed: [], findings: [] };
  for (const file of all) {
    try {
      read.committed.push(...(await committedIn(engine, log, [file])));
      read.files.push(file);
    } catch (error) {
      read.findings.push(damaged(`${file} cannot be read: ${error instanceof Error ? error.message : error}`));
    }
  }
  return read;
}

function committedIn(engine: Engine, log: OpenWarehouse, files: string[]): Promise<CommittedRun[]> {
  const query = `select run_id, website_id, snapshot_id from (${log.query('runs', files)})
    where outcome = 'committed'`;
  return engine.rows(committedRow, query);
}
