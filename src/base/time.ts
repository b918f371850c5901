import { setTimeout as delay } from 'node:timers/promises';
import { Stopped } from './exit.js';

/** Times in milliseconds. */
export const SECOND_MS = 1000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** The date this many days after another one, or before it if negative; `YYYY-MM-DD`. */
export function addDays(date: string, days: number): string {
  return new Date(Date.parse(date) + days * DAY_MS).toISOString().slice(0, 10);
}

/** Whether a text is a date, `YYYY-MM-DD`. JavaScript takes 2025-02-30 for March 2. */
export function isCalendarDate(text: string): boolean {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}

/** By time zone, because making one takes longer than a request. */
const dateFormats = new Map<string, Intl.DateTimeFormat>();

/** The calendar date of a moment in a time zone, as `YYYY-MM-DD`. */
export function calendarDate(at: Date, timeZone: string): string {
  const known = dateFormats.get(timeZone);
  if (known) return known.format(at);
  const made = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
  dateFormats.set(timeZone, made);
  return made.format(at);
}

/** When a UUID of version 7 was made, in milliseconds since 1970. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
}

/** Clock, timers and randomness, passed in so that tests can control them. */
export interface Effects {
  /** Milliseconds since 1970. */
  now(): number;
  /** Waits; rejects with `Stopped` when the signal fires. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** 0 ≤ x < 1. */
  random(): number;
}

export const realEffects: Effects = {
  now: () => Date.now(),
  sleep: async (ms, signal) => {
    try {
      await delay(ms, undefined, signal ? { signal } : {});
    } catch (error) {
      if (signal?.aborted) throw new Stopped();
      throw error;
    }
  },
  random: () => Math.random(),
};
