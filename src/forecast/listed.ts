import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Config } from '../config/schema.js';
import { Clients } from '../run/clients.js';
import { setPlanOrder } from '../run/plan-reports.js';
import type { JudgedEntry } from '../source/coverage-window.js';
import type { Effects } from '../source/effects.js';
import { walkListing } from '../source/walk.js';
import { Engine } from '../storage/engine.js';
import { sql } from '../storage/sql.js';
import { makeTemporary, removeTemporary } from '../storage/temporary.js';
import { type WantedPage, wantedRow } from './known.js';
import type { SelectedWebsite } from './website.js';

const walkedRow = z.object({ pages: z.int(), fingerprint: z.string() });

/**
 * The pages of a website without a snapshot, in the order in which its first run fetches their reports. Only the
 * listing names them, so this walks it, with a request for each window, and without warehouse or journal.
 *
 * @throws SourceError if the listing is not available
 */
export async function* listedPages(
  website: SelectedWebsite,
  config: Config,
  options: { effects: Effects; signal: AbortSignal; onAnswer: () => void },
): AsyncGenerator<WantedPage> {
  const { now } = options.effects;
  const folder = makeTemporary('plan');
  const clients = new Clients(config, options);
  const engine = await Engine.open({ memoryLimit: config.warehouse.memory_limit, temporary: join(folder, 'engine') });
  const file = join(folder, 'listed.jsonl');
  try {
    await writeFile(file, '');
    await engine.set({ listed_file: file });
    await engine.run(sql('forecast/listed'));
    const walked = async (walk: number) => (await engine.rows(walkedRow, sql('forecast/walked'), { walk }))[0];
    const purpose = { lane: website.id, counts: { sent: 0, throttled: 0, retried: 0 } };
    const { kept } = await walkListing({
      websiteId: website.id,
      baseUrl: website.baseUrl,
      baseUrlPlace: website.places.baseUrl,
      pageSize: config.api.page_size,
      now,
      get: (path) => clients.clientOf(website).get(path, purpose),
      accept: ({ fresh, state: { walk } }) => {
        const lines = fresh.map((entry) => `${JSON.stringify({ walk, url: acceptedUrl(entry) })}\n`);
        return appendFile(file, lines.join(''));
      },
      countDistinct: async (walk) => (await walked(walk))?.pages ?? 0,
      sameListing: async (a, b) => (await walked(a))?.fingerprint === (await walked(b))?.fingerprint,
    });
    await setPlanOrder(engine, { ...config.reports, max_per_run: Number.POSITIVE_INFINITY }, now());
    await engine.set({ walk: kept.walk, first: Number.MAX_SAFE_INTEGER, beyond: 0 });
    await engine.run(sql('forecast/listed_candidates'));
    await engine.view('report_plan', sql('plan/report_plan'));
    yield* engine.stream(wantedRow, sql('forecast/wanted_pages'));
  } finally {
    engine.close();
    await clients.close();
    removeTemporary(folder);
  }
}

/** Null for an entry that breaks the contract: no run requests its report. */
function acceptedUrl(entry: JudgedEntry): string | null {
  return 'verdict' in entry && !entry.verdict.accepted ? null : entry.url;
}
