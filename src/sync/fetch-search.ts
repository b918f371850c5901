import { z } from 'zod';
import { counted, grouped } from '../base/observe/format.js';
import { crashPoint } from '../base/storage/crash-point.js';
import { sql } from '../base/storage/sql.js';
import { addDays, DAY_MS } from '../base/time.js';
import type { Purpose } from '../source/client.js';
import { SourceError, TooLate } from '../source/errors.js';
import {
  SEARCH_TYPES,
  type SearchDays,
  type Searched,
  type SearchRow,
  type SearchTotals,
  type SearchType,
} from '../source/source.js';
import { type Before, deadlineOf, type WebsiteRun } from './context.js';
import { dayName, readSearch, SearchJournal, type SearchLeft } from './journal/search.js';
import { type AllTotals, datesOf, type KnownDay, planDays, type Unknown, type WantedDay } from './search-days.js';
import { viewSearch, withSearch } from './stage/search-views.js';

/** Days that are fetched at the same time. */
const WIDTH = 4;
/** The pages of so many days are listed: without one of these days, the listing is partial. */
const LISTED_DAYS = 90;
/** After so many failed days in a row, the others would fail, too. */
const MOST_IN_A_ROW = 3;
const WHY_UNKNOWN: Record<Unknown, string> = {
  missing: 'Google gives no figures yet: unknown until `sync` has read them again',
  corrected: 'Google gives other figures than before: unknown until `sync` has read them again',
};

const knownDay = z.object({
  ...{ date: z.string(), type: z.string(), is_final: z.boolean(), at: z.number() },
  ...{ clicks: z.number().nullable(), impressions: z.number().nullable() },
  unknown: z.enum(['missing', 'corrected']).nullable(),
});
const hostRow = z.object({ url: z.string() });

interface Failed {
  /** Null where a type cannot be read at all. */
  date: string | null;
  why: string;
}

/**
 * Fetches the days of search analytics that the warehouse does not have, newest first: those that may still change, and as
 * many of the history as a night may. A day that is refused is fetched the next night, and one whose sums are missing or
 * differ from what is committed is unknown until it was fetched again.
 *
 * @returns null if the source has none
 * @throws SourceError if the property cannot be asked; `Stopped`; JournalError
 */
export async function fetchSearch(run: WebsiteRun, before: Before): Promise<Searched | null> {
  const { source, folder } = run;
  if (!source.searchDays) return null;
  const left = await readSearch(folder);
  if (left.searched) return { ...left.searched, entries: left.entries, hosts: await hostsOf(run, before) };
  // The property is asked for however late it is: what is not read in time only leaves the listing partial.
  const days = await source.searchDays({ lane: run.website.id, counts: run.requests });
  run.clock.check(run);
  const ended = await fetchDays(run, before, left, days);
  crashPoint('searched');
  return { ...ended, hosts: await hostsOf(run, before) };
}

async function fetchDays(run: WebsiteRun, before: Before, left: SearchLeft, days: SearchDays) {
  const purpose = { lane: run.website.id, counts: run.requests, notAfter: deadlineOf(run) };
  const journal = new SearchJournal(run.folder, left);
  try {
    const fetching = new SearchFetch(run, days, journal, purpose, left.days);
    const ended = await fetching.all(await knownDays(run, before));
    await journal.finish(ended);
    return { ...ended, entries: journal.entries };
  } finally {
    journal.close();
  }
}

class SearchFetch {
  readonly #failed: Failed[] = [];
  /** The days that were read tonight, and those that had no pages where some are expected. */
  readonly #read: Set<string>;
  readonly #empty: WantedDay[] = [];
  #inARow = 0;
  #isOver = false;

  /** @param journaled the days that this run has read already */
  constructor(
    private readonly run: WebsiteRun,
    private readonly days: SearchDays,
    private readonly journal: SearchJournal,
    private readonly purpose: Purpose,
    journaled: ReadonlySet<string>,
  ) {
    this.#read = new Set(journaled);
  }

  /** @param known the committed days */
  async all(known: ReadonlyMap<string, KnownDay>) {
    const { config, effects, limits } = this.run;
    const { today } = this.days;
    const totals = await this.#totals(addDays(today, -Math.round(config.google.history / DAY_MS)));
    const asked = { today, most: limits.searchDays, now: effects.now() };
    const { wanted, again, left } = planDays(totals, known, asked);
    await this.#fetchAll(wanted.filter((day) => !this.#read.has(dayName(day))));
    const unknown = await this.#unknown(again);
    const isListed = ({ date }: Failed) => date === null || date >= addDays(today, -LISTED_DAYS);
    const failed = new Set(this.#failed.flatMap(({ date }) => date ?? []));
    const remarks = [
      ...this.#failed.filter((one) => !isListed(one)),
      ...unknown.map(({ date, why }) => ({ date, why: WHY_UNKNOWN[why] })),
    ];
    return {
      error: failedText(this.#failed.filter(isListed)),
      remark: failedText(remarks),
      left: left + failed.size,
      doubtful: datesOf(unknown).length,
    };
  }

  /** Journals which days are unknown from now on. @returns all that are */
  async #unknown(again: readonly WantedDay[]) {
    const changed = again.filter((day) => !this.#read.has(dayName(day)));
    const days = [...changed, ...this.#empty.filter(({ was }) => was === null)].map(({ date, type, was }) => {
      const why = was?.unknown ?? (was ? 'corrected' : 'missing');
      return { date, type, why, isNew: !was?.unknown };
    });
    const at = new Date(this.run.effects.now());
    for (const { isNew, ...day } of days) if (isNew) await this.journal.unknown(day, at);
    return days;
  }

  /** What each type has, without those that cannot be read. */
  async #totals(since: string): Promise<AllTotals> {
    const totals = new Map<SearchType, SearchTotals>();
    for (const type of SEARCH_TYPES) {
      if (this.#isOver) break;
      await this.#trying({ date: null, what: `its days of type ${type}` }, async () => {
        totals.set(type, await this.days.totals(type, since, this.purpose));
      });
    }
    return totals;
  }

  async #fetchAll(wanted: readonly WantedDay[]): Promise<void> {
    const queue = [...wanted];
    const work = async () => {
      for (let day = queue.shift(); day && !this.#isOver; day = queue.shift()) {
        await this.#fetch(day);
        this.run.progress.searched(this.run.website, wanted.length - queue.length, wanted.length);
      }
    };
    const ends = await Promise.allSettled(Array.from({ length: WIDTH }, work));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
    for (const { date } of queue) this.#failed.push({ date, why: 'was not tried after others failed' });
  }

  #fetch({ sums, canBeEmpty, was, ...day }: WantedDay): Promise<void> {
    return this.#trying({ date: day.date, what: '' }, async () => {
      const found: SearchRow[] = [];
      // Without impressions there are no pages to ask for.
      const isNone = sums?.impressions === 0;
      if (!isNone) for await (const some of this.days.rows(day, this.purpose)) found.push(...some);
      if (found.length === 0 && !canBeEmpty && !isNone) {
        this.#empty.push({ ...day, sums, canBeEmpty, was });
        return;
      }
      const rows = pagesIn(found);
      const read = { ...day, ...(sums ?? sumOf(rows)), rows, isCut: this.days.isCut(found.length) };
      await this.journal.day({ ...read, rowsRead: found.length }, new Date(this.run.effects.now()));
      this.#read.add(dayName(day));
      crashPoint(`searched ${dayName(day)}`);
    });
  }

  /** @throws what is not about a day */
  async #trying({ date, what }: { date: string | null; what: string }, work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#inARow = 0;
    } catch (error) {
      const isOfTheDay = error instanceof TooLate || (error instanceof SourceError && error.kind !== 'unauthorized');
      const isLast = error instanceof TooLate || (error instanceof SourceError && error.kind === 'paused');
      this.#isOver = !isOfTheDay || isLast || ++this.#inARow >= MOST_IN_A_ROW;
      if (!isOfTheDay) throw error;
      const why = error instanceof TooLate ? 'was not read in time' : `cannot be read: ${error.message}`;
      this.#failed.push({ date, why: what ? `(${what}) ${why}` : why });
    }
  }
}

/** Each page once, by `url`, as it was spelt most, with the figures of all its rows, which answers may repeat. */
function pagesIn(found: readonly SearchRow[]): SearchRow[] {
  const rows = new Map(found.map((row) => [row.page ?? row.url, row]));
  const pages = new Map<string, SearchRow>();
  for (const { page: _, ...row } of [...rows.values()].sort((one, other) => other.impressions - one.impressions)) {
    if (row.url !== null) pages.set(row.url, added(row, pages.get(row.url)));
  }
  return [...pages.entries()].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, page]) => page);
}

function added(row: SearchRow, sum: SearchRow | undefined): SearchRow {
  if (!sum) return row;
  const impressions = sum.impressions + row.impressions;
  const position = ((sum.position ?? 0) * sum.impressions + (row.position ?? 0) * row.impressions) / impressions;
  return { ...sum, clicks: sum.clicks + row.clicks, impressions, position: sum.position === null ? null : position };
}

function sumOf(rows: readonly SearchRow[]) {
  const sum = (of: 'clicks' | 'impressions') => rows.reduce((all, row) => all + row[of], 0);
  return { clicks: sum('clicks'), impressions: sum('impressions') };
}

/** Such as `of 3 days (2026-11-02 …) cannot be read: …` for each cause; null without any. */
function failedText(failed: readonly Failed[]): string | null {
  const texts = [...grouped(failed, ({ why }) => why)].map(([why, all]) => {
    const dates = [...new Set(all.flatMap(({ date }) => date ?? []))].sort();
    if (dates.length === 0) return why;
    return `of ${dates.length === 1 ? dates[0] : `${counted(dates.length, 'day')} (${dates[0]} …)`} ${why}`;
  });
  return texts.join('; ') || null;
}

/** The committed days, as `dayName` names them. */
function knownDays(run: WebsiteRun, before: Before): Promise<ReadonlyMap<string, KnownDay>> {
  return run.journal.use(null, async (engine) => {
    await viewSearch(engine, run, before);
    const days = await engine.rows(knownDay, sql('sync/list/known_days'));
    return new Map(days.map((day) => [dayName(day), day]));
  });
}

function hostsOf(run: WebsiteRun, before: Before): Promise<string[]> {
  return run.journal.use(null, async (engine) => {
    const work = () => engine.rows(hostRow, sql('sync/list/search_hosts'));
    return (await withSearch(engine, run, { before, work })).map(({ url }) => url);
  });
}
