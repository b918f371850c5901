import type { Command } from 'commander';
import type { ReaderOptions } from '../analysis/reader.js';
import type { Report, ReportOptions } from '../report/report.js';
import type { DamagedFile } from '../warehouse/damage.js';
import { flagsOf, type Globals, newCommand, type Outcome, packageVersion, UsageError } from './command.js';
import type { Terminal } from './query-output.js';
import { exitFor, readerOptions } from './reader-options.js';

const DEFAULT_FILE = 'report.html';
const STDOUT = '-';

const HELP = `
One HTML file that needs nothing else: it opens from a mail attachment, on a phone and on paper, and runs no script.
Dates like "6 days ago" count from the newest snapshot; both ends are included.

Examples:
  indexhouse report                                       the last seven days into report.html
  indexhouse report --website example.com --since "29 days ago" --out example.html
  indexhouse report --out - | mail -a "Content-Type: text/html" -s "Index report" team@example.com`;

interface Flags extends Globals {
  out: string;
  website?: string;
  since?: string;
  until?: string;
  warehouse?: string;
}

/** `indexhouse report`: one self-contained HTML file with charts. Reads only, never blocked by a sync. */
export function reportCommand(outcome: Outcome, terminal: Terminal = process): Command {
  return newCommand(
    'report',
    'write a self-contained HTML report with charts: what changed in the index, where and why',
  )
    .option(
      '-o, --out <file>',
      `the file; an earlier report is replaced, nothing else; ${STDOUT} for stdout`,
      DEFAULT_FILE,
    )
    .option('-w, --website <id>', 'only this website, by id or name')
    .option('--since <date>', 'first date (default: six days before the last)')
    .option('--until <date>', 'last date (default: that of the newest snapshot)')
    .option('--warehouse <folder>', 'the warehouse, instead of the one that the configuration names')
    .addHelpText('after', HELP)
    .action(async (_: Flags, command: Command) => {
      outcome.exitCode = await report(flagsOf<Flags>(command), terminal);
    });
}

async function report(flags: Flags, terminal: Terminal): Promise<number> {
  const toStdout = flags.out === STDOUT;
  if (toStdout && flags.json) throw new UsageError('--json and --out - contradict each other: both take stdout');
  const where = await readerOptions(flags);
  if (!toStdout) await checkFile(where.warehouse, flags.out);
  const options: ReportOptions = { ...chosen(flags), version: await packageVersion(), now: Date.now() };
  const { read, damaged } = await readOnce(where, options);
  const { reportPage } = await import('../report/page.js');
  const page = reportPage(read);
  if (toStdout) {
    terminal.stdout.write(page);
    return exitFor(damaged);
  }
  await write(flags.out, page);
  const { reportJson, reportText } = await import('./report-output.js');
  terminal.stdout.write(flags.json ? reportJson(read, flags.out) : reportText(read, flags.out));
  return exitFor(damaged);
}

function chosen({ website, since, until }: Flags): Pick<ReportOptions, 'website' | 'since' | 'until'> {
  return { website, since, until };
}

/** @throws UsageError where the report could not be written, before it is worked out */
async function checkFile(warehouse: string, out: string): Promise<void> {
  const { checkOutside, checkReportFile } = await import('./out-file.js');
  await checkOutside(warehouse, out);
  await checkReportFile(out);
}

/** With the files that the report is without. */
async function readOnce(
  where: ReaderOptions,
  options: ReportOptions,
): Promise<{ read: Report; damaged: readonly DamagedFile[] }> {
  const [{ withReader }, { readReport }, { QuestionError, QuestionStopped }, { stopSignal }] = await Promise.all([
    import('../analysis/reader.js'),
    import('../report/report.js'),
    import('../analysis/errors.js'),
    import('./signals.js'),
  ]);
  return withReader(where, async (reader) => {
    const { signal, release } = stopSignal();
    signal.addEventListener('abort', () => reader.engine.raw.interrupt());
    try {
      return { read: await readReport(reader, options), damaged: reader.damaged };
    } catch (error) {
      if (signal.aborted) throw new QuestionStopped('report');
      if (error instanceof QuestionError) throw new UsageError(error.message, { cause: error });
      throw error;
    } finally {
      release();
    }
  });
}

async function write(file: string, page: string): Promise<void> {
  const { writeDurably } = await import('../storage/durable.js');
  await writeDurably(file, page);
}
