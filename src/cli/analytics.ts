import { resolve } from 'node:path';
import type { Command } from 'commander';
import { configOf, flagsOf, type Globals, newCommand } from './command.js';
import { DEFAULT_MEMORY_LIMIT_BYTES } from './reader-options.js';

const HELP = `
The sync keeps warehouse/analytics.duckdb, whose views hold the warehouse's path on this machine. This command writes the
same views for another one, such as the path under which a container of a BI tool mounts the warehouse. New snapshots
appear in it by themselves. Write it again when a table gets its first rows, and after an upgrade: it is replaced whole,
and a reader that has the old one open keeps it.

Example:
  indexhouse analytics --root /data/warehouse --out ./bi/analytics.duckdb`;

interface Flags extends Globals {
  root?: string;
  out: string;
  warehouse?: string;
}

/** `indexhouse analytics`: the views over the Parquet files, for readers that see them under another path. */
export function analyticsCommand(): Command {
  return newCommand('analytics', 'write the views for BI tools that see the warehouse under another path')
    .option('--root <path>', 'absolute path of the warehouse as the readers see it (default: as it is here)')
    .requiredOption('-o, --out <file>', 'the DuckDB file to write; only a file of such views is written over')
    .option('--warehouse <folder>', 'the warehouse, instead of the one that the configuration names')
    .addHelpText('after', HELP)
    .action(async (_: Flags, command: Command) => {
      await analytics(flagsOf<Flags>(command));
    });
}

async function analytics(flags: Flags): Promise<void> {
  const [{ exportAnalytics }, { formatJson }, { safe }] = await Promise.all([
    import('../followers/export-analytics.js'),
    import('./output.js'),
    import('../observe/terminal.js'),
  ]);
  const { warehouse, memoryLimit } = await warehouseOf(flags);
  const written = await exportAnalytics({ warehouse, memoryLimit, root: flags.root ?? warehouse, out: flags.out });
  const done = safe(`Wrote ${written.file}: ${written.views.length} views over ${written.root}`);
  process.stdout.write(flags.json ? formatJson(written) : `${done}\n`);
}

async function warehouseOf(flags: Flags): Promise<{ warehouse: string; memoryLimit: number }> {
  if (flags.warehouse !== undefined) {
    return { warehouse: resolve(flags.warehouse), memoryLimit: DEFAULT_MEMORY_LIMIT_BYTES };
  }
  const { path, memory_limit } = (await configOf(flags, { withoutTokens: true })).warehouse;
  return { warehouse: path, memoryLimit: memory_limit };
}
