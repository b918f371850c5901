import { rm } from 'node:fs/promises';
import { z } from 'zod';
import { count, counted, percent } from '../base/observe/format.js';
import { crashPoint } from '../base/storage/crash-point.js';
import { AppendFile } from '../base/storage/durable.js';
import { sql, sqlScript } from '../base/storage/sql.js';
import { DAY_MS, HOUR_MS } from '../base/time.js';
import type { Merged, Searched, Sightings } from '../source/source.js';
import type { JudgedEntry } from '../source/walk/coverage-window.js';
import type { WalkResult } from '../source/walk/walk.js';
import { readLines } from '../warehouse/journal/lines.js';
import { type JournaledWalk, readListing } from '../warehouse/journal/listing.js';
import { previousState } from '../warehouse/log/stage/comparison.js';
import { type Before, deadlineOf, type WebsiteRun } from './context.js';
import { wellFormedJson } from './journal/embed.js';
import { ListingJournal } from './journal/write-listing.js';
import { type WalkFingerprint, walkFingerprint } from './stage/journal-views.js';
import { withSearch } from './stage/search-views.js';

/** Reading every sitemap may take this long, so that a night has time for its inspections. */
const LONGEST_LISTING_MS = 4 * HOUR_MS;

const MERGING = ['sightings', 'known_pages', 'restless_sources', 'family_of'];

/** A line of what `sync/list/sighted_pages` gives. Members that are null say nothing. */
const sightedPage = z.looseObject({ url: z.string() });
const mergedSource = z.looseObject({ pages: z.int() });

/**
 * Walks the listing into the journal, or resumes an interrupted walk. Sends no request if the journal holds the whole
 * walk already.
 *
 * @throws SourceError if no listing is available, or in an outage to wait for; `Stopped`; JournalError
 */
export async function walk(run: WebsiteRun, before: Before, searched: Searched | null): Promise<JournaledWalk> {
  const left = await readListing(run.folder, run.effects.now());
  // Each window in the journal was a request of this run, whichever process sent it.
  run.requests.sent += left.windows;
  if (left.kind === 'listed') return left.listed;
  const journal = new ListingJournal(run.folder, left);
  const fingerprints = new Map<number, Promise<WalkFingerprint>>();
  const fingerprintOf = (walk: number) => {
    const known = fingerprints.get(walk) ?? run.journal.use(walk, walkFingerprint);
    fingerprints.set(walk, known);
    return known;
  };
  try {
    const result = await run.source.list(
      {
        purpose: { lane: run.website.id, counts: run.requests },
        searched,
        notAfter: Math.min(deadlineOf(run), run.effects.now() + LONGEST_LISTING_MS),
        // Nothing is journaled under a clock that differs from the service's.
        answered: () => run.clock.check(run),
        note: (text, level) => run.logger[level]({ website: run.website.id }, text),
        accept: async (window) => {
          await journal.accept(window, new Date(run.effects.now()));
          run.progress.listed(run.website, window.fresh.length, window.state.count);
        },
        merged: (found) => merged(run, found, before),
        countDistinct: async (walk) => (await fingerprintOf(walk)).pages,
        sameListing: async (a, b) => (await fingerprintOf(a)).fingerprint === (await fingerprintOf(b)).fingerprint,
      },
      left.from,
    );
    if (result.error && run.outage.isWaitedFor(result.error, deadlineOf(run), run.website)) throw result.error;
    const judged = result.complete ? withRejectsJudged(run, result, await fingerprintOf(result.kept.walk)) : result;
    await journal.finish(judged, new Date(run.effects.now()), (text) => run.source.client.redact(text));
    crashPoint('listed');
    const { kept, walks, complete, reason } = judged;
    return { walk: kept.walk, walks, complete, reason, count: kept.count, startedAt: kept.startedAt };
  } finally {
    journal.close();
  }
}

/** Each page once, with all that was said about it as the `extra` of its entry; memory does not grow with them. */
async function merged(run: WebsiteRun, found: Sightings, before: Before): Promise<Merged> {
  const { folder, journal } = run;
  const file = new AppendFile(folder.sightings, 0);
  try {
    for await (const some of found.sightings()) await file.append(linesOf(some));
  } finally {
    file.close();
  }
  const sources = await journal.use(null, async (engine) => {
    const is_partial = found.sources.some(({ error }) => error !== null);
    const now = run.effects.now();
    await engine.set({
      sightings_file: folder.sightings,
      sources: JSON.stringify(found.sources),
      is_partial,
      day_ago: new Date(now - DAY_MS),
      forget_before: new Date(now - run.limits.forgetAfter),
    });
    await engine.views(previousState(before.state));
    await engine.run(sql('warehouse/macros/026_url_key'));
    const work = async () => {
      // Without search, pages that it alone names must not count as unnamed.
      if (journal.lacks !== null) await engine.set({ is_partial: true });
      await engine.run(sqlScript(MERGING.map((name) => `sync/list/${name}`)));
      await engine.copy(sql('sync/list/sighted_pages'), folder.sighted, 'format json');
      return engine.rows(mergedSource, sql('sync/list/counted_sources'));
    };
    const counted = await withSearch(engine, run, { before, work });
    await engine.run('drop table sightings');
    return counted;
  });
  await rm(folder.sightings);
  return { pages: entriesIn(folder.sighted), sources, lacks: journal.lacks };
}

async function* entriesIn(file: string): AsyncGenerator<JudgedEntry> {
  for await (const { value } of readLines(file, sightedPage)) yield entryOf(value);
  await rm(file);
}

function linesOf(objects: readonly object[]): string {
  return objects.map((one) => `${wellFormedJson(one)}\n`).join('');
}

function entryOf({ url, ...said }: z.output<typeof sightedPage>): JudgedEntry {
  const extra = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== null));
  return { url, verdict: { accepted: true, record: { url }, absent: [], extra }, payload: { url } };
}

/** A listing with too many rejects is not complete: the pages that it lacks would count as missing. */
function withRejectsJudged(run: WebsiteRun, result: WalkResult, { pages, rejected }: WalkFingerprint): WalkResult {
  if (rejected <= run.limits.maxRejectRatio * pages) return result;
  const reason = `${count(rejected)} of ${counted(pages, 'entry breaks', 'entries break')} the contract, more than ${percent(run.limits.maxRejectRatio)}`;
  return { ...result, complete: false, reason };
}
