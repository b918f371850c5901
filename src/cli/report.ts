import { resolve } from 'node:path';
import { type ReaderOptions, withReader } from '../analysis/reader.js';
import { Stopped, UsageError } from '../exit.js';
import { reportPage } from '../report/page.js';
import { type Report, type ReportOptions, readReport } from '../report/report.js';
import { writeDurably } from '../storage/durable.js';
import type { DamagedFile } from '../warehouse/damage.js';
import { exitFor, readerOptions } from './configured.js';
import { type Io, stoppable } from './io.js';
import { checkOutside, checkReportFile } from './out-file.js';
import type { Globals } from './program.js';
import { reportJson, reportText } from './report-output.js';
import { packageVersion } from './version.js';

const STDOUT = '-';

export interface Flags extends Globals {
  out: string;
  website?: string;
  since?: string;
  until?: string;
  warehouse?: string;
}

/** `indexhouse report`: one self-contained HTML file with charts. Reads only, never blocked by a sync. */
export async function run(flags: Flags, io: Io): Promise<number> {
  const toStdout = flags.out === STDOUT;
  if (toStdout && flags.json) throw new UsageError('--json and --out - cannot be combined: both write to stdout');
  const where = await readerOptions(flags, io);
  const file = resolve(io.cwd, flags.out);
  if (!toStdout) {
    await checkOutside(where.warehouse, file);
    await checkReportFile(file);
  }
  const { website, since, until } = flags;
  const options: ReportOptions = { website, since, until, version: await packageVersion(), now: Date.now() };
  const { read, damaged } = await readOnce(where, options, io);
  const page = reportPage(read);
  if (toStdout) {
    io.stdout.write(page);
    return exitFor(damaged, io);
  }
  await writeDurably(file, page);
  io.stdout.write(flags.json ? reportJson(read, file) : reportText(read, flags.out));
  return exitFor(damaged, io);
}

/** With the files that the report is without. */
function readOnce(
  where: ReaderOptions,
  options: ReportOptions,
  io: Io,
): Promise<{ read: Report; damaged: readonly DamagedFile[] }> {
  return withReader(where, (reader) =>
    stoppable(io, async (signal) => {
      signal.addEventListener('abort', () => reader.engine.raw.interrupt());
      try {
        return { read: await readReport(reader, options), damaged: reader.damaged };
      } catch (error) {
        throw signal.aborted ? new Stopped('report: stopped before it was complete') : error;
      }
    }),
  );
}
