import { z } from 'zod';
import { counted } from '../base/observe/format.js';
import { crashPoint } from '../base/storage/crash-point.js';
import { sql } from '../base/storage/sql.js';
import { addDays, DAY_MS } from '../base/time.js';
import type { Purpose } from '../source/client.js';
import { SourceError, TooLate } from '../source/errors.js';
import {
  SEARCH_TYPES,
  type SearchDate,
  type SearchDays,
  type Searched,
  type SearchRow,
  type SearchTotals,
  type SearchType,
} from '../source/source.js';
import { type Before, deadlineOf, type WebsiteRun } from './context.js';
import { dayName, readSearch, SearchJournal, type SearchLeft } from './journal/search.js';
import { viewSearch } from './stage/search-views.js';

/** Days that are fetched at the same time. */
const WIDTH = 4;
/** The pages of so many days are listed: without one of these days, the listing is partial. */
const LISTED_DAYS = 90;
/** After so many failed days in a row, the others would fail, too. */
const MOST_IN_A_ROW = 3;
/** A day without impressions in web search is unknown for a week if the week before it had this many. */
const GAP = {
  days: 7,
  impressions: 140,
  why: 'has no impressions in web search, though the week before had many: `sync` reads it again',
};

const knownDay = z.object({ date: z.string(), type: z.string() });
const hostRow = z.object({ url: z.string() });

type AllTotals = ReadonlyMap<SearchType, SearchTotals>;
interface Sums {
  clicks: number;
  impressions: number;
}
/** A day to fetch, with what all its pages sum up to; null if Google gave no sums. */
type WantedDay = SearchDate & { sums: Sums | null };
interface Failed {
  /** Null where a type cannot be read at all. */
  date: string | null;
  why: string;
}

/**
 * Fetches the days of search analytics that the warehouse does not have, newest first: those that may still change, and as
 * many of the history as a night may. A day that is refused is fetched the next night.
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
    const fetching = new SearchFetch(run, days, journal, purpose);
    const ended = await fetching.all(await finalDays(run, before), left.days);
    await journal.finish(ended);
    return { ...ended, entries: journal.entries };
  } finally {
    journal.close();
  }
}

class SearchFetch {
  readonly #failed: Failed[] = [];
  #inARow = 0;
  #isOver = false;

  constructor(
    private readonly run: WebsiteRun,
    private readonly days: SearchDays,
    private readonly journal: SearchJournal,
    private readonly purpose: Purpose,
  ) {}

  /** @param final the days that are committed for good @param journaled those that this run has read already */
  async all(final: ReadonlySet<string>, journaled: ReadonlySet<string>) {
    const { history } = this.run.config.google;
    const { searchDays: most } = this.run.limits;
    const { today } = this.days;
    const totals = await this.#totals(addDays(today, -Math.round(history / DAY_MS)));
    const missing = missingDates(totals, final);
    const gaps = gapsIn(missing, totals);
    const open = missing.filter((date) => !gaps.includes(date));
    const dates = new Set([...open.slice(0, most), ...preliminaryDates(totals, today)]);
    const all = missing.length > 0 || dates.size > 0 ? wantedDays(totals, dates) : trialDay(totals);
    const wanted = all.filter((day) => !final.has(dayName(day)) && !journaled.has(dayName(day)));
    await this.#fetchAll(wanted);
    const isListed = ({ date }: Failed) => date === null || date >= addDays(today, -LISTED_DAYS);
    return {
      error: failedText(this.#failed.filter(isListed)),
      remark: failedText([
        ...gaps.map((date) => ({ date, why: GAP.why })),
        ...this.#failed.filter((one) => !isListed(one)),
      ]),
      left:
        Math.max(0, open.length - most) + gaps.length + new Set(this.#failed.flatMap(({ date }) => date ?? [])).size,
    };
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

  #fetch({ sums, ...day }: WantedDay): Promise<void> {
    return this.#trying({ date: day.date, what: '' }, async () => {
      const rows: SearchRow[] = [];
      // Without impressions there are no pages to ask for.
      if (sums?.impressions !== 0) for await (const some of this.days.rows(day, this.purpose)) rows.push(...some);
      if (sums === null && rows.length === 0) return;
      const read = { ...day, ...(sums ?? sumOf(rows)), rows, isCut: this.days.isCut(rows.length) };
      await this.journal.day(read, new Date(this.run.effects.now()));
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

/** The dates from the first one with data on that are not known for good, newest first. */
function missingDates(totals: AllTotals, final: ReadonlySet<string>): string[] {
  const { first, last } = rangeOf(totals);
  if (first === null) return [];
  const missing: string[] = [];
  for (let date = last; date >= first; date = addDays(date, -1)) {
    if (SEARCH_TYPES.some((type) => !final.has(dayName({ date, type })))) missing.push(date);
  }
  return missing;
}

/** Those of the last week that Google may have left out. */
function gapsIn(missing: readonly string[], totals: AllTotals): string[] {
  const { last } = rangeOf(totals);
  // Other types of search often have days without impressions.
  const shownOn = (date: string) => totals.get('web')?.dates.get(date)?.impressions ?? 0;
  const shownBefore = (date: string) =>
    Array.from({ length: GAP.days }, (_, at) => shownOn(addDays(date, -1 - at))).reduce((all, one) => all + one, 0);
  return missing.filter(
    (date) => addDays(date, GAP.days) > last && shownOn(date) === 0 && shownBefore(date) >= GAP.impressions,
  );
}

/** The first date with data of any type, and the last that no longer changes. */
function rangeOf(totals: AllTotals): { first: string | null; last: string } {
  const all = [...totals.values()];
  const first = all.flatMap(({ dates }) => [...dates.keys()]).sort()[0] ?? null;
  const last = all.map(({ firstPreliminary }) => addDays(firstPreliminary, -1)).sort()[0] ?? '';
  return { first, last };
}

/** The dates with data that may still change. */
function preliminaryDates(totals: AllTotals, today: string): string[] {
  const { last } = rangeOf(totals);
  const dates = [...totals.values()].flatMap((one) => [...one.dates.keys()]);
  return [...new Set(dates)].filter((date) => date > last && date <= today);
}

function sumOf(rows: readonly SearchRow[]): Sums {
  const sum = (of: keyof Sums) => rows.reduce((all, row) => all + row[of], 0);
  return { clicks: sum('clicks'), impressions: sum('impressions') };
}

/** The newest final day, where Google gives no sums: pages may have been shown all the same. */
function trialDay(totals: AllTotals): WantedDay[] {
  const { first, last } = rangeOf(totals);
  return first === null && totals.has('web') ? [{ date: last, type: 'web', isFinal: true, sums: null }] : [];
}

/** Each type of these dates, newest first. A date that Google does not list had no impressions. */
function wantedDays(totals: AllTotals, dates: ReadonlySet<string>): WantedDay[] {
  const { last } = rangeOf(totals);
  return [...dates]
    .sort()
    .reverse()
    .flatMap((date) =>
      [...totals].map(([type, { dates: known }]) => {
        const { clicks = 0, impressions = 0 } = known.get(date) ?? {};
        return { date, type, isFinal: date <= last, sums: { clicks, impressions } };
      }),
    );
}

/** Such as `of 3 days (2026-11-02 …) cannot be read: …`; null without any. */
function failedText(failed: readonly Failed[]): string | null {
  const [first] = failed;
  if (!first) return null;
  const dates = [...new Set(failed.flatMap(({ date }) => date ?? []))].sort();
  if (dates.length === 0) return first.why;
  return dates.length === 1
    ? `of ${dates[0]} ${first.why}`
    : `of ${counted(dates.length, 'day')} (${dates[0]} …) ${first.why}`;
}

/** The days that are committed for good, as `dayName` names them. */
function finalDays(run: WebsiteRun, before: Before): Promise<ReadonlySet<string>> {
  return run.journal.use(null, async (engine) => {
    await viewSearch(engine, run, before);
    const days = await engine.rows(knownDay, sql('sync/list/final_days'));
    return new Set(days.map(dayName));
  });
}

function hostsOf(run: WebsiteRun, before: Before): Promise<string[]> {
  return run.journal.use(null, async (engine) => {
    await viewSearch(engine, run, before);
    return (await engine.rows(hostRow, sql('sync/list/search_hosts'))).map(({ url }) => url);
  });
}
