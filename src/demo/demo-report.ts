import { withReader } from '../analysis/reader.js';
import { reportPage } from '../report/page.js';
import { readReport } from '../report/report.js';
import { writeDurably } from '../storage/durable.js';

const MEMORY_LIMIT_BYTES = 500e6;

/** Writes the report on the demo's last seven nights. */
export async function writeDemoReport(
  warehouse: string,
  { file, version, now }: { file: string; version: string; now: number },
): Promise<void> {
  const options = { warehouse, memoryLimit: MEMORY_LIMIT_BYTES };
  const report = await withReader(options, (reader) => readReport(reader, { version, now }));
  await writeDurably(file, reportPage(report));
}
