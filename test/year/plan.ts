import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/base/time.js';
import { seededRandom } from '../given/random.js';

export const YEAR = 2027;

/** One daemon with its websites, and how it lives in its time zone. */
export interface Household {
  name: string;
  timeZone: string;
  /** When its clocks change, and how many hours they are ahead of UTC from then on; the first one holds at New Year. */
  changes: readonly { at: string; hours: number }[];
  cron: string;
  /** What the expression says, in minutes since midnight; each is for Sundays. */
  minutes: number;
  websites: readonly { id: string; pages: number; dropsAt: string | null }[];
  /** Two nights may lie so far apart, but no three. */
  maxAgeMs: number;
}

export const HOUSEHOLDS: readonly Household[] = [
  {
    name: 'berlin',
    timeZone: 'Europe/Berlin',
    changes: [
      { at: '2026-10-25T01:00Z', hours: 1 },
      { at: '2027-03-28T01:00Z', hours: 2 },
      { at: '2027-10-31T01:00Z', hours: 1 },
    ],
    // In spring this time does not come, in autumn twice.
    cron: '30 2 * * 0',
    minutes: 150,
    websites: [
      { id: 'alster', pages: 12, dropsAt: null },
      { id: 'spree', pages: 32, dropsAt: '2027-05-20' },
    ],
    maxAgeMs: 180 * HOUR_MS,
  },
  {
    name: 'new-york',
    timeZone: 'America/New_York',
    changes: [
      { at: '2026-11-01T06:00Z', hours: -5 },
      { at: '2027-03-14T07:00Z', hours: -4 },
      { at: '2027-11-07T06:00Z', hours: -5 },
    ],
    // In autumn this time comes twice.
    cron: '30 1 * * 0',
    minutes: 90,
    websites: [
      { id: 'bronx', pages: 12, dropsAt: null },
      { id: 'harlem', pages: 12, dropsAt: null },
      { id: 'queens', pages: 32, dropsAt: '2027-08-11' },
    ],
    maxAgeMs: 180 * HOUR_MS,
  },
];

export interface Span {
  from: number;
  to: number;
}

/** A night in which the process is killed, and again when it has been started again. */
export interface Kill {
  at: number;
  blows: readonly Blow[];
}

/** The process is killed once so many requests were answered since the moment, and so much later; or at the latest while it waits. */
export interface Blow {
  requests: number;
  /** Real time. */
  delayMs: number;
  /** Whether the next message is waited for instead, and the process killed when it arrives. */
  onMessage: boolean;
  /** How long nobody starts it again. */
  pauseMs: number;
}

/** What befalls a household. Times are milliseconds since 1970. */
export interface Plan {
  household: Household;
  /** When a sync is due: the oracle's own reading of the timetable. */
  due: readonly number[];
  outages: readonly Span[];
  /** The key is refused; then another one is configured. */
  revoked: Span;
  full: Span | null;
  /** The machine sleeps: its clock goes on, its timers do not. */
  asleep: Span;
  /** The process is not there. */
  off: Span;
  /** The webhook takes nothing. */
  deaf: Span;
  /** New fields; then new texts of a state, too. */
  newFields: number;
  newTexts: number;
  /** A field is missing, and the first entry breaks the contract. */
  broken: Span;
  kills: readonly Kill[];
}

/** Kills of one night. */
export const BLOWS = 2;
const FIRST = Date.UTC(YEAR, 0, 1);
const LAST = Date.UTC(YEAR + 1, 0, 1);

/** Later nothing befalls a household but a change of the clocks, so that its last process lives for long. */
const QUIET_FROM = Date.UTC(YEAR, 8, 25);

export function planFor(
  household: Household,
  seed: number,
  { kills, canFill }: { kills: number; canFill: boolean },
): Plan {
  const random = seededRandom(seed);
  const due = dueTimes(household);
  const eventful = due.slice(4).filter((time) => time < QUIET_FROM && !isNearChange(household, time));
  const taken: number[] = [];
  /** A night that lies this many nights from each one that is taken, at least. */
  const take = (apart = 1): number => {
    const isFree = (time: number) => taken.every((other) => Math.abs(due.indexOf(other) - due.indexOf(time)) >= apart);
    const fitting = eventful.filter(isFree);
    const time = fitting[Math.floor(random() * fitting.length)];
    if (time === undefined) throw new Error('no night is left for a fault');
    taken.push(time);
    return time;
  };
  const around = (time: number, hours: number) => ({
    from: time - random() * 20 * MINUTE_MS,
    to: time + hours * HOUR_MS,
  });
  const weekend = take(2);
  const key = take();
  const broken = take() - 12 * HOUR_MS;
  const plan = {
    household,
    due,
    outages: [
      around(take(), 1),
      around(take(), 1),
      around(take(), 4),
      { from: weekend - 32 * HOUR_MS, to: weekend + 27 * HOUR_MS },
    ],
    revoked: { from: key - 10 * HOUR_MS, to: key + 30 * HOUR_MS },
    full: canFill ? around(take(), 3.5) : null,
    asleep: sleepBefore(take()),
    off: sleepBefore(take()),
    deaf: around(take(), 12),
    newFields: take() - 12 * HOUR_MS,
    newTexts: take() - 12 * HOUR_MS,
    broken: { from: broken, to: broken + 8 * DAY_MS },
  };
  const killed = Array.from({ length: kills }, (_, number) => ({
    at: take(),
    blows: Array.from({ length: BLOWS }, (_, blow) => newBlow(number * BLOWS + blow, random)),
  }));
  return { ...plan, kills: killed.sort((one, other) => one.at - other.at) };
}

/** Two days that end a few hours after a night. */
function sleepBefore(night: number): Span {
  return { from: night + 5 * HOUR_MS - 2 * DAY_MS, to: night + 5 * HOUR_MS };
}

function newBlow(number: number, random: () => number): Blow {
  return {
    requests: Math.floor(random() * 60),
    delayMs: random() < 0.5 ? 0 : random() * 400,
    onMessage: number % 5 === 0,
    pauseMs: random() < 0.7 ? random() * 5 * MINUTE_MS : random() * 4 * HOUR_MS,
  };
}

/** When each night of the year is due, from the calendar and the table of clock changes alone. */
function dueTimes(household: Household): number[] {
  const days = Array.from({ length: Math.round((LAST - FIRST) / DAY_MS) }, (_, at) => FIRST + at * DAY_MS);
  return days.filter((day) => new Date(day).getUTCDay() === 0).map((day) => dueOn(day, household));
}

/** @param day midnight of the date in UTC */
function dueOn(day: number, { minutes, changes }: Household): number {
  const wanted = day + minutes * MINUTE_MS;
  for (const [at, { hours }] of changes.entries()) {
    const next = changes[at + 1];
    const time = wanted - hours * HOUR_MS;
    // The first time that the clock shows it; where it skips it, right after the change.
    if (!next || time < Date.parse(next.at)) return time;
    if (wanted - next.hours * HOUR_MS < Date.parse(next.at)) return Date.parse(next.at);
  }
  throw new Error('no offset is known');
}

/** What happens at a change of the clocks shall be seen alone. */
function isNearChange({ changes }: Household, time: number): boolean {
  return changes.some(({ at }) => Math.abs(Date.parse(at) - time) < 4 * DAY_MS);
}
