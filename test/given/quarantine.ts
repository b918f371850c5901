import { basename } from 'node:path';
import { z } from 'zod';
import { withEngine } from '../../src/base/storage/engine.js';
import { listTableFiles, tableFile } from '../../src/warehouse/log/folder/layout.js';
import { temporaryFolder } from './folder.js';
import { readMarkers } from './markers.js';
import { hashOf, rewrite } from './tamper.js';

/**
 * Makes as if an older contract had refused what the one of today accepts: writes other texts into what is quarantined,
 * and its new SHA-256 into the markers. To be followed by a rebuild, because followers have the old texts. `format` is
 * that of the files.
 */
export async function mendPayloads(
  warehouse: string,
  texts: Record<string, string>,
  format = 'format parquet',
): Promise<void> {
  const engine = { memoryLimit: 256e6, temporary: temporaryFolder(() => {}) };
  for (const marker of await withEngine(engine, (opened) => readMarkers(opened, warehouse))) {
    if (!marker.files['rejected_records']) continue;
    const place = { websiteId: marker.websiteId, date: marker.date, id: marker.commitId };
    const file = tableFile(warehouse, 'rejected_records', place);
    const fixed = Object.entries(texts).reduce((sql, [from, to]) => `replace(${sql}, '${from}', '${to}')`, 'payload');
    await rewrite(file, `select * replace (${fixed} as payload) from self`, format);
    const files = { ...marker.files, rejected_records: { ...marker.files['rejected_records'], sha256: hashOf(file) } };
    await rewrite(marker.path, `select * replace ('${JSON.stringify(files)}' as files) from self`, format);
  }
}

/** The ids of the replays that were committed, oldest first. */
export async function replayIds(warehouse: string): Promise<string[]> {
  return (await listTableFiles(warehouse, 'replays')).map((file) => basename(file, '.parquet')).sort();
}

/** How many rows a database file gives for each of its relations that hold anything. */
export async function countsIn(file: string, relations: string[]): Promise<Record<string, number>> {
  const options = { file, readOnly: true, memoryLimit: 256e6, temporary: temporaryFolder(() => {}) };
  return withEngine(options, async (engine) => {
    const counts: Record<string, number> = {};
    for (const name of relations) {
      const [row] = await engine.rows(z.object({ n: z.int() }), `select count(*)::integer as n from ${name}`);
      counts[name] = row?.n ?? 0;
    }
    return counts;
  });
}
