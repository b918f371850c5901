import { rm } from 'node:fs/promises';
import { z } from 'zod';
import { AppendFile } from '../base/storage/durable.js';
import { sql } from '../base/storage/sql.js';
import type { JudgedEntry } from '../source/walk/coverage-window.js';
import { wellFormedJson } from '../warehouse/journal/embed.js';
import { readLines } from '../warehouse/journal/lines.js';
import type { WebsiteRun } from './context.js';

/** A line of what `sync/list/sighted_pages` gives. Members that are null say nothing. */
const sightedPage = z.looseObject({ url: z.string() });

/** Each sighted page once, with all that was said about it as the `extra` of its entry; memory does not grow with them. */
export async function* mergedSightings(
  { folder, journal }: Pick<WebsiteRun, 'folder' | 'journal'>,
  sightings: AsyncIterable<readonly object[]>,
): AsyncGenerator<JudgedEntry> {
  const file = new AppendFile(folder.sightings, 0);
  try {
    for await (const some of sightings) await file.append(some.map((one) => `${wellFormedJson(one)}\n`).join(''));
  } finally {
    file.close();
  }
  await journal.use(null, async (engine) => {
    await engine.set({ sightings_file: folder.sightings });
    await engine.copy(sql('sync/list/sighted_pages'), folder.sighted, 'format json');
  });
  for await (const { value } of readLines(folder.sighted, sightedPage)) yield entryOf(value);
  await Promise.all([folder.sightings, folder.sighted].map((path) => rm(path)));
}

function entryOf({ url, ...said }: z.output<typeof sightedPage>): JudgedEntry {
  const extra = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== null));
  return { url, verdict: { accepted: true, record: { url }, absent: [], extra }, payload: { url } };
}
