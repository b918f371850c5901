import { unit } from '../src/app/demo/simulator/random.js';

const PAGES = 1_200;
const SECTIONS = 14;
/** What is found when the first night comes: pages that have lived up to so long. */
const NIGHTS_BEFORE = 120;
const HORIZON_NIGHTS = 28;
export const STATES = [
  'Submitted and indexed',
  'Crawled - currently not indexed',
  'Discovered - currently not indexed',
  'URL is unknown',
  'Soft 404',
];
const [INDEXED, CRAWLED, UNKNOWN, BROKEN] = [0, 1, 3, 4];
/** Chances of a night to enter the index, by state. */
const ENTERS = [0, 0.012, 0.016, 0.007, 0.0006];
const FALLS = 0.004;
/** Chances of a night to be discovered and crawled, by state. */
const COMES_NEARER = [0, 0, 0.04, 0.1, 0];
/** A new page enters three times as fast; that wears off within weeks. */
const [NEW_GAIN, NEW_DAYS] = [2, 15];
/** Of the sections, and of their indexed pages. */
const [CRASH_HITS, CRASH_TAKES] = [0.6, 0.5];
const BROKEN_SHARE = 0.04;
/** Nights from one report of an unchanged page to the next: one of these in each world. */
const REPORTS_EVERY = [1, 7, 28];
/** How often a gain is tried out, on how many copies of the joined pages. */
const [TRIALS, COPIES] = [9, 4];
/** Random numbers of a page have the number of a night, or one behind this. */
const TRAITS = 1_000;

export interface Scenario {
  nights: number;
  /** Deviation of the logarithm of the sections' speeds. */
  spread: number;
  crash: 'none' | 'elsewhere' | 'theirs';
  prefersNew: boolean;
  /** How often it is whole sections that join, instead of a part of some. */
  whole: number;
}

export interface Page {
  section: number;
  /** Negative: before the first night. */
  born: number;
  enters: number;
  falls: number;
  joins: boolean;
  isInAnother: boolean;
  /** Its place in `STATES` on each night from `born` or 0 on, and what it would be had it not joined. */
  states: number[];
  otherwise: number[];
  /** The nights of its reports: with a change of state, and every so often. */
  reports: number[];
}

export interface World extends Scenario {
  joinsOn: number;
  reportEvery: number;
  isWhole: boolean;
  pages: Page[];
}

/** A stretch of a page's life: the nights after `from`, with a chance to enter on top, and a night of a crash. */
interface Stretch {
  from: number;
  until: number;
  gain?: number;
  crash?: { night: number; sections: ReadonlySet<number> };
}

/**
 * A website some of whose pages join a sitemap, and then enter the index more often: as much as gives so many
 * percentage points at the horizon, if nothing crashes. Each page lives a second time without joining, with the same
 * random numbers.
 */
export function makeWorld(seed: number, scenario: Scenario, points: number): World {
  const { nights } = scenario;
  const joinsOn = nights < HORIZON_NIGHTS ? 4 : 20 + Math.floor(15 * unit(seed, -1));
  const pages = Array.from({ length: PAGES }, (_, at) => makePage(seed, at, scenario));
  const world = {
    ...scenario,
    joinsOn,
    isWhole: unit(seed, -2) < scenario.whole,
    reportEvery: REPORTS_EVERY[seed % REPORTS_EVERY.length] ?? 1,
    pages,
  };
  for (const page of chooseJoined(seed, world)) page.joins = true;
  for (const [at, page] of pages.entries()) {
    const from = Math.max(Math.min(page.born, joinsOn), -NIGHTS_BEFORE);
    const first = unit(seed, at, TRAITS + 5) < BROKEN_SHARE ? BROKEN : UNKNOWN;
    page.states = [first, ...live(page, first, [seed, at], { from, until: joinsOn })].slice(Math.max(0, -from));
  }
  const until = Math.min(joinsOn + HORIZON_NIGHTS, nights - 1);
  const gain = gainOf(seed, pages, { from: joinsOn, until }, points / 100);
  const rest: Stretch = { from: joinsOn, until: nights - 1, ...crashOf(seed, world, until) };
  for (const [at, page] of pages.entries()) {
    const since = { ...rest, from: Math.max(page.born, joinsOn) };
    const goOn = (more: number) => live(page, lastOf(page), [seed, at], { ...since, gain: more });
    const otherwise = [...page.states, ...goOn(0)];
    page.states = page.joins ? [...page.states, ...goOn(gain)] : otherwise;
    page.otherwise = otherwise;
    page.reports = reportNights(page, world, Math.floor(unit(seed, at, TRAITS + 6) * world.reportEvery));
  }
  return world;
}

function makePage(seed: number, at: number, { spread, nights, prefersNew }: Scenario): Page {
  // Sections of 60 to 180 pages.
  const section = Math.floor(SECTIONS * unit(seed, at, TRAITS + 1) ** 1.4);
  const own = Math.exp(0.4 * normal(seed, at, TRAITS + 2));
  const age = unit(seed, at, TRAITS + 3);
  const newShare = prefersNew ? 0.35 : 0.12;
  const born =
    age < newShare ? nights - Math.floor((age / newShare) * (nights + 40)) - 1 : -100 - Math.floor(900 * age);
  return {
    section,
    born,
    enters: own * Math.exp(spread * normal(seed, -10 - section, 1)),
    falls: FALLS * own * Math.exp(spread * normal(seed, -10 - section, 2)),
    joins: false,
    isInAnother: unit(seed, at, TRAITS + 4) < 0.3 + 0.4 * (section % 2),
    states: [],
    otherwise: [],
    reports: [],
  };
}

/** 40 to 400 pages: whole sections, or a part of one to five. */
function chooseJoined(seed: number, { pages, joinsOn, isWhole, prefersNew }: World): Page[] {
  const batch = 40 * 10 ** unit(seed, -3);
  const shuffled = inLots(
    seed,
    -4,
    Array.from({ length: SECTIONS }, (_, section) => section),
  );
  const theirs = new Set<number>();
  const there = pages.filter(({ born }) => born <= joinsOn);
  const ofTheirs = () => there.filter(({ section }) => theirs.has(section));
  const wanted = isWhole ? batch : Math.max(1.6 * batch, 1 + 300 * unit(seed, -5));
  for (const section of shuffled) if (ofTheirs().length < wanted) theirs.add(section);
  if (isWhole) return ofTheirs();
  const preference = ({ born }: Page) => (prefersNew && joinsOn - born < 30 ? 4 : 1);
  const lots = ofTheirs().map((page, at) => ({ page, lot: unit(seed, -6, at) ** (1 / preference(page)) }));
  return lots
    .sort((one, other) => other.lot - one.lot)
    .slice(0, batch)
    .map(({ page }) => page);
}

/** Half of the pages of some sections that are indexed fall out in one night. */
function crashOf(seed: number, { crash, pages, joinsOn }: World, until: number): Pick<Stretch, 'crash'> {
  if (crash === 'none') return {};
  const theirs = new Set(pages.flatMap(({ joins, section }) => (joins ? [section] : [])));
  const others = Array.from({ length: SECTIONS }, (_, section) => section).filter((section) => !theirs.has(section));
  const hit = inLots(seed, -7, crash === 'theirs' ? [...theirs] : others);
  const night = joinsOn + 1 + Math.floor((until - joinsOn) * unit(seed, -8));
  return { crash: { night, sections: new Set(hit.slice(0, Math.ceil(CRASH_HITS * hit.length))) } };
}

function inLots(seed: number, what: number, sections: readonly number[]): number[] {
  return sections.toSorted((one, other) => unit(seed, what, one) - unit(seed, what, other));
}

/** The chance of a night, on top of their own, that gives the joined pages so large a share more at the end. */
function gainOf(seed: number, pages: readonly Page[], stretch: Stretch, share: number): number {
  const joined = pages.filter(({ joins }) => joins);
  const indexed = (gain: number) => {
    const ends = joined.flatMap((page, at) =>
      Array.from({ length: COPIES }, (_, copy) =>
        live(page, lastOf(page), [seed, PAGES * (1 + copy) + at], { ...stretch, gain }).at(-1),
      ),
    );
    return ends.filter((state) => state === INDEXED).length / ends.length;
  };
  if (share === 0) return 0;
  const wanted = indexed(0) + share;
  let [low, high] = [0, 0.3];
  for (let trial = 0; trial < TRIALS; trial++) {
    const middle = (low + high) / 2;
    [low, high] = indexed(middle) < wanted ? [middle, high] : [low, middle];
  }
  return (low + high) / 2;
}

function lastOf({ states }: Page): number {
  return states.at(-1) ?? UNKNOWN;
}

/** The states of the nights after `from`. */
function live(
  page: Page,
  state: number,
  [seed, at]: [number, number],
  { from, until, gain = 0, crash }: Stretch,
): number[] {
  const states: number[] = [];
  let now = state;
  for (let night = from + 1; night <= until; night++) {
    const lot = unit(seed, at, night);
    const isHit = crash?.night === night && crash.sections.has(page.section);
    if (now === INDEXED) {
      const falls = isHit && unit(seed, at, TRAITS + 7) < CRASH_TAKES ? 1 : page.falls;
      if (lot < falls) now = CRAWLED;
    } else {
      const enters = page.enters * (ENTERS[now] ?? 0) * (1 + NEW_GAIN * Math.exp((page.born - night) / NEW_DAYS));
      if (lot < enters + (now === BROKEN ? 0 : gain)) now = INDEXED;
      else if (lot > 1 - (COMES_NEARER[now] ?? 0)) now -= 1;
    }
    states.push(now);
  }
  return states;
}

function reportNights({ born, states }: Page, { nights, reportEvery }: World, phase: number): number[] {
  const first = Math.max(born, 0);
  const lived = Array.from({ length: nights - first }, (_, since) => first + since);
  return lived.filter((night) => {
    const since = night - first;
    return since === 0 || (night + phase) % reportEvery === 0 || states[since] !== states[since - 1];
  });
}

/** A normally distributed number, nearly: the sum of twelve. */
function normal(seed: number, a: number, b: number): number {
  let sum = -6;
  for (let nth = 0; nth < 12; nth++) sum += unit(seed, a, b, nth + 1);
  return sum;
}
