import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { isReport, MARK_BYTES, reportMail, reportPage } from '../../../answers/report/page.js';
import { type Report, readReport } from '../../../answers/report/report.js';
import { ageSentence, ageText } from '../../../answers/status/data-age.js';
import { type LastNight, readLastNight } from '../../../answers/status/status.js';
import { nameOf } from '../../../answers/status/website-status.js';
import { UsageError } from '../../../base/exit.js';
import {
  changeOf,
  count,
  counted,
  type Figure,
  known,
  percent,
  shareOf,
  signed,
} from '../../../base/observe/format.js';
import { safe, shownOn } from '../../../base/observe/terminal.js';
import { writeDurably } from '../../../base/storage/durable.js';
import { packageVersion } from '../../../base/version.js';
import { readingOf, writeAge, writeNotes } from '../configured.js';
import { EXIT, type Io, type ReadFlags, widthOf } from '../io.js';
import { figures, formatJson, formatTable, wrapped } from '../output/output.js';
import { answered } from '../output/query-output.js';
import { checkOutside, fileOf } from '../output/sink.js';

export interface Flags extends ReadFlags {
  out: string;
  format?: 'html' | 'mail';
  brief?: boolean;
  website?: string;
  since?: string;
  until?: string;
}

/** `indexhouse report`: one self-contained HTML file with charts. Reads only, never blocked by a sync. */
export async function run(flags: Flags, io: Io): Promise<number> {
  const file = fileOf(flags.out, io);
  if (file === undefined && flags.json)
    throw new UsageError('--json and --out - cannot be combined: both write to stdout');
  const where = await readingOf(flags, io);
  if (file !== undefined) {
    await checkOutside(where.warehouse, file);
    await checkReportFile(file);
  }
  const { website, since, until } = flags;
  const options = { website, since, until, version: await packageVersion(), now: Date.now() };
  const report = await answered(where, io, async (reader) => {
    const made = await readReport(reader, options);
    writeNotes(reader, io);
    return made;
  });
  const ids = website === undefined ? null : report.websites.map((one) => one.website.website_id);
  const lastNight = await readLastNight(where.status, ids);
  const page = flags.format === 'mail' ? reportMail(report, lastNight) : reportPage(report, flags.brief);
  if (file === undefined || flags.json) writeAge(report.age, flags, io);
  if (file === undefined) io.stdout.write(shownOn(io.stdout, page));
  else {
    await writeDurably(file, page);
    io.stdout.write(
      flags.json
        ? reportJson(report, file, lastNight)
        : reportText(report, flags.out, { lastNight, width: widthOf(io.stdout) }),
    );
  }
  return EXIT.done;
}

/**
 * Checks that the file can be written, and overwrites nothing but an earlier report.
 *
 * @throws UsageError if the report could not be written, or would overwrite something else
 */
async function checkReportFile(out: string): Promise<void> {
  const folder = dirname(resolve(out));
  const parent = await stat(folder).catch(() => null);
  if (!parent?.isDirectory()) throw new UsageError(`--out ${out}: folder ${folder} does not exist`);
  const found = await stat(out).catch(() => null);
  if (!found) return;
  if (!found.isFile()) throw new UsageError(`--out ${out} is not a file: name a file`);
  // An empty file, such as `mktemp` makes, has nothing to lose.
  if (found.size === 0 || isReport(await text(createReadStream(out, { end: MARK_BYTES - 1 })).catch(() => ''))) return;
  throw new UsageError(`--out ${out} exists and is not an indexhouse report: choose another name, or delete it first`);
}

/** Where the report is, and its headline, for people. */
function reportText(
  report: Report,
  file: string,
  { lastNight, width }: { lastNight: LastNight; width: number | undefined },
): string {
  const { age, period, total, websites, sections } = report;
  const [only, second] = websites;
  const subject = only && !second ? nameOf(only.website) : `${websites.length} websites`;
  const share = total.not_inspected ? '' : percent(shareOf(total.indexed.now, total.pages.now));
  const stock = (name: string, figure: Figure) => [name, known(figure.now), signed(changeOf(figure))];
  const flow = (name: string, { now }: Figure) => [name, known(now), ''];
  const since = total.compared_with === null ? '' : `since ${total.compared_with}`;
  const table = formatTable(
    [safe(subject), ...figures('now'), { name: since, align: 'left' }],
    [
      stock('pages monitored', total.pages),
      stock(share ? `indexed (${share})` : 'indexed', total.indexed),
      ...(total.not_inspected ? [['not inspected yet', count(total.not_inspected), '']] : []),
      flow('entered the index', total.entered),
      flow('fell out', total.fell_out),
      ...(total.retired ? [['retired', count(total.retired), '']] : []),
      flow('appeared', total.appeared),
      flow('disappeared', total.disappeared),
      flow('canonical flips', total.canonical_flips),
      flow('newly blocked by robots.txt', total.robots_blocked),
    ],
  );
  const days = `${period.since} to ${period.until} (${counted(period.days, 'day')})`;
  const [section, other] = sections;
  const story = section && !other ? [...section.story, ...section.caveats] : [];
  const paragraphs = story.map((sentence) => `${wrapped(safe(sentence), width)}\n`).join('');
  const time = age ? `${wrapped(safe(ageSentence(age)), width)}\n\n` : '';
  return `${wrapped(safe(lastNight.sentence), width)}\n\n${time}${paragraphs}${paragraphs && '\n'}${table}\nReport for ${days}: ${safe(file)}\n`;
}

/** The same for programs: each figure now and before (null if there is nothing to compare with). */
function reportJson({ made_at, age, period, total, websites }: Report, file: string, last_night: LastNight): string {
  const { since, until, days } = period;
  const each = websites.map(({ website: { website_id, website_name }, headline }) => {
    return { website_id, website_name, ...headline };
  });
  const stale = age?.old ? ageText(age) : null;
  return formatJson({ file, last_night, made_at, as_of: age?.as_of, stale, since, until, days, total, websites: each });
}
