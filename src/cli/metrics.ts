import { metricsOf } from '../analysis/metrics.js';
import { readStatus } from '../analysis/status.js';
import { statusInputOf } from '../analysis/status-input.js';
import type { Config } from '../config/schema.js';
import { writeDurably } from '../storage/durable.js';

/** Writes the metrics for a textfile collector, whole or not at all. Do not call it while this process syncs. */
export async function writeMetrics(config: Config, file: string): Promise<void> {
  await writeDurably(file, await metricsOf(await readStatus(statusInputOf(config))));
}
