import { resolve } from 'node:path';
import { UsageError } from '../exit.js';
import { reportPage } from '../report/page.js';
import { readReport } from '../report/report.js';
import { writeDurably } from '../storage/durable.js';
import { exitFor, readerOptions } from './configured.js';
import type { Io } from './io.js';
import { checkOutside, checkReportFile } from './out-file.js';
import type { Globals } from './program.js';
import { answered } from './query-output.js';
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
  const options = { website, since, until, version: await packageVersion(), now: Date.now() };
  const { answer: report, damaged } = await answered(where, io, (reader) => readReport(reader, options));
  const page = reportPage(report);
  if (toStdout) io.stdout.write(page);
  else {
    await writeDurably(file, page);
    io.stdout.write(flags.json ? reportJson(report, file) : reportText(report, flags.out));
  }
  return exitFor(damaged, io);
}
