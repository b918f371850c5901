import { World } from '../../src/app/demo/simulator/world.js';
import { DAY_MS, HOUR_MS } from '../../src/base/time.js';
import type { CoverageEntry } from '../../src/source/contract/coverage.js';
import { type Plan, type Span, YEAR } from './plan.js';

/** As the configuration of the test says. */
const RETRY_FOR_MS = 6 * HOUR_MS;
const CATCH_UP_MS = 12 * HOUR_MS;
const FIRST = Date.UTC(YEAR, 0, 1);
const YEAR_END = Date.UTC(YEAR + 1, 0, 1);

/** What becomes of a night. */
interface Night {
  due: number;
  /** Whether a sync can begin at all. */
  isRun: boolean;
  isHad: boolean;
  /** Whether it waits for an outage. */
  isDelayed?: boolean;
  /** When its sync begins and ends, in milliseconds since 1970. */
  begun: number;
  ended: number;
}

export interface Expected {
  /** Of every night and website that is had, `<date> <website>: <pages> pages, <indexed> indexed, <rejected> rejected`. */
  snapshots: string[];
  /** `<date> <website> <kind>`, the date being that of the night that a notice follows from. */
  notices: string[];
  /** Notices that depend on which of two timers is the first. */
  mayBeSent: string[];
}

/** Which night of the world the service shows: each one begins three hours before a sync may be due. */
export function worldNight({ due }: Pick<Plan, 'due'>, time: number): number {
  const boundary = (((due[0] ?? FIRST) - FIRST) % DAY_MS) - 3 * HOUR_MS;
  return Math.floor((time - FIRST - boundary) / DAY_MS);
}

export function newWorld({ household, due }: Pick<Plan, 'household' | 'due'>, seed: number): World {
  const websites = household.websites.map(({ id, pages, dropsAt }) => {
    const drop = dropsAt === null ? null : worldNight({ due }, Date.parse(dropsAt) + DAY_MS / 2);
    return { id, pages, deindexing: drop === null ? null : { night: drop, directory: '/products/', share: 1 } };
  });
  return new World({ seed, start: new Date(FIRST).toISOString(), websites });
}

export function isIn(span: Span | null, time: number): boolean {
  return span !== null && time >= span.from && time < span.to;
}

/** The entries of a listing as the interface shows them at that time; the quarantined one is left out. */
function listedAt(plan: Plan, world: World, id: string, time: number): CoverageEntry[] {
  const all = [...world.pages(id)].map(({ coverage }) => coverage);
  return isIn(plan.broken, time) ? all.slice(1) : all;
}

/** What must be in the warehouse and must have been sent, from the plan and the simulated world alone. */
export function expectedOf(plan: Plan, seed: number): Expected {
  const nights = plan.due.map((due) => fateOf(plan, due));
  const expected: Expected = { snapshots: [], notices: [], mayBeSent: [] };
  const ids = plan.household.websites.map(({ id }) => id);
  const notify = (due: number, kind: string, notices = expected.notices) =>
    notices.push(...ids.map((id) => `${dateOf(due)} ${id} ${kind}`));
  for (const { due, isRun, isHad, isDelayed } of nights) {
    if (isRun && !isHad) notify(due, 'failed');
    if (isDelayed) expected.notices.push(`${dateOf(due)} null outage`);
    if (isDelayed && isHad) expected.notices.push(`${dateOf(due)} null outage_over`);
  }
  for (const { due, isCertain } of staleNights(plan, nights)) {
    notify(due, 'stale', isCertain ? expected.notices : expected.mayBeSent);
  }
  const world = newWorld(plan, seed);
  const websites = ids.map((id) => new Website(plan, id));
  for (const { due, isHad, begun } of nights) {
    if (!isHad) continue;
    world.advance(worldNight(plan, begun) - world.night);
    for (const website of websites) website.live(world, { due, begun }, expected);
  }
  return expected;
}

export function dateOf(due: number): string {
  return new Date(due).toISOString().slice(0, 10);
}

function fateOf(plan: Plan, due: number): Night {
  let begun = due;
  for (const span of [plan.asleep, plan.off]) if (isIn(span, begun)) begun = span.to;
  const later = plan.due.some((other) => other > due && other <= begun);
  if (later || begun - due > CATCH_UP_MS) return { due, isRun: false, isHad: false, begun, ended: begun };
  if (isIn(plan.revoked, begun)) return { due, isRun: true, isHad: false, begun, ended: begun };
  const outage = [...plan.outages, plan.full].find((span) => isIn(span, begun));
  if (!outage) return { due, isRun: true, isHad: true, begun, ended: begun };
  const isHad = outage.to <= begun + RETRY_FOR_MS;
  return { due, isRun: true, isHad, isDelayed: true, begun, ended: isHad ? outage.to : begun + RETRY_FOR_MS };
}

/** After which nights some hourly check, until the next sync ends, finds the newest snapshot too old. */
function staleNights(plan: Plan, nights: readonly Night[]): { due: number; isCertain: boolean }[] {
  const runs = nights.filter(({ isRun }) => isRun);
  let newest = Number.POSITIVE_INFINITY;
  return runs.flatMap(({ due, isHad, begun, ended }, at): { due: number; isCertain: boolean }[] => {
    if (isHad) newest = begun;
    const next = runs[at + 1]?.ended ?? YEAR_END;
    const pauses = [plan.asleep, plan.off].filter(({ from, to }) => from > ended && to <= next);
    const lastCheck = Math.min(next, ...pauses.map(({ from }) => from));
    const isStale = (time: number) => {
      const over = time - newest - plan.household.maxAgeMs;
      if (Math.abs(over) < 1.5 * HOUR_MS)
        throw new Error(`whether a snapshot of ${dateOf(due)} is stale hangs by a thread`);
      return over > 0;
    };
    if (isStale(lastCheck)) return [{ due, isCertain: true }];
    // The machine wakes up, and checks before it syncs.
    const mayCheck = pauses.includes(plan.asleep) && plan.asleep.to - newest > plan.household.maxAgeMs;
    return mayCheck ? [{ due, isCertain: false }] : [];
  });
}

/** What the oracle keeps of a website from night to night. */
class Website {
  /** The summary of each page that is known. */
  #known: Map<string, string | null> | null = null;
  #indexed = 0;
  #partial = 0;
  readonly #seen = new Set<string>();

  constructor(
    private readonly plan: Plan,
    private readonly id: string,
  ) {}

  live(world: World, { due, begun }: { due: number; begun: number }, expected: Expected): void {
    const listed = listedAt(this.plan, world, this.id, begun);
    const isBroken = isIn(this.plan.broken, begun);
    const indexed = listed.filter(({ index_summary }) => index_summary === 'Indexed').length;
    const pages = `${listed.length} pages, ${indexed} indexed, ${isBroken ? 1 : 0} rejected`;
    expected.snapshots.push(`${dateOf(due)} ${this.id}: ${pages}`);
    const notify = (kind: string) => expected.notices.push(`${dateOf(due)} ${this.id} ${kind}`);
    if (this.#showsNew(begun)) notify('drift');
    this.#partial = isBroken ? this.#partial + 1 : 0;
    if (isBroken) notify('rejects');
    if (this.#partial >= 1) notify('partial');
    const lost = this.#indexed - indexed;
    if (this.#known && !isBroken && lost >= 10 && lost > 0.05 * this.#indexed) notify('indexed_drop');
    if (!isBroken) this.#indexed = indexed;
    if (this.#leftTheIndex(listed, isBroken)) notify('watched');
  }

  /** Whether any page that was indexed no longer is, listed or not. */
  #leftTheIndex(listed: readonly CoverageEntry[], isBroken: boolean): boolean {
    const known = this.#known ?? new Map<string, string | null>();
    const wasIndexed = (url: string) => known.get(url) === 'Indexed';
    const left = listed.filter(({ url, index_summary: now }) => wasIndexed(url) && now !== 'Indexed').length;
    const urls = new Set(listed.map(({ url }) => url));
    const gone = isBroken ? [] : [...known.keys()].filter((url) => !urls.has(url));
    const lost = gone.filter(wasIndexed).length;
    for (const url of gone) known.delete(url);
    for (const { url, index_summary } of listed) known.set(url, index_summary ?? null);
    this.#known = known;
    return left + lost > 0;
  }

  #showsNew(time: number): boolean {
    const shown = {
      fields: time >= this.plan.newFields,
      texts: time >= this.plan.newTexts,
      broken: isIn(this.plan.broken, time),
    };
    const fresh = Object.entries(shown).filter(([what, is]) => is && !this.#seen.has(what));
    for (const [what] of fresh) this.#seen.add(what);
    return fresh.length > 0;
  }
}
