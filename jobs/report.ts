import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { withReader } from '../src/answers/query/reader.js';
import { reportPage } from '../src/answers/report/page.js';
import { readReport } from '../src/answers/report/report.js';
import { statusInputOf } from '../src/answers/status/status-input.js';
import type { Job } from '../src/app/daemon/job.js';
import { EXIT } from '../src/base/exit.js';
import { makeFolder, writeDurably } from '../src/base/storage/durable.js';
import { namesIn } from '../src/warehouse/log/folder/layout.js';

/** As many daily reports as a month has; older ones can be written again with `report --until`. */
const KEPT = 30;
const NAME = /^indexhouse-\d{4}-\d{2}-\d{2}\.html$/;

/** Writes a report of the last seven days under the date of the newest snapshot, and keeps the newest of such files. */
export const reportJob: Job = {
  async run({ config, version, logger }) {
    const { path: warehouse, memory_limit: memoryLimit } = config.warehouse;
    const folder = join(dirname(warehouse), 'reports');
    const options = { warehouse, memoryLimit, ageRule: statusInputOf(config), pagesFrom: config.pages_from };
    const report = await withReader(options, (reader) => readReport(reader, { version, now: Date.now() }));
    await makeFolder(folder);
    const file = join(folder, `indexhouse-${report.period.until}.html`);
    await writeDurably(file, reportPage(report));
    const old = (await reportsIn(folder)).slice(0, -KEPT);
    for (const name of old) await rm(join(folder, name), { force: true });
    logger.info({ file, deleted: old.length }, 'wrote the report');
    return EXIT.done;
  },
};

/** Only our own names: somebody may keep other files there. */
async function reportsIn(folder: string): Promise<string[]> {
  return (await namesIn(folder)).filter((name) => NAME.test(name));
}
