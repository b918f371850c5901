import { UsageError } from '../../../base/exit.js';
import { safe } from '../../../base/observe/terminal.js';
import { exportAnalytics } from '../../../warehouse/copies/analytics.js';
import { settingsFor } from '../configured.js';
import { EXIT, type Io, type ReadFlags } from '../io.js';
import { formatJson } from '../output/output.js';
import { fileOf } from '../output/sink.js';

export interface Flags extends ReadFlags {
  root?: string;
  out: string;
}

/** `indexhouse analytics`: the views over the Parquet files, for readers that see them under another path. */
export async function run(flags: Flags, io: Io): Promise<number> {
  const { path: warehouse, memory_limit: memoryLimit } = (await settingsFor(flags, io)).warehouse;
  const out = fileOf(flags.out, io);
  if (out === undefined) throw new UsageError('--out -: a DuckDB file cannot be written to stdout: name a file');
  const written = await exportAnalytics({ warehouse, memoryLimit, root: flags.root ?? warehouse, out });
  const done = safe(`Wrote ${written.file}: ${written.views.length} views over ${written.root}`);
  io.stdout.write(flags.json ? formatJson(written) : `${done}\n`);
  return EXIT.done;
}
