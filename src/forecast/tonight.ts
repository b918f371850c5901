import { type ByReason, byReason, REASONS, type Reason } from './reasons.js';
import { sum } from './sum.js';

/** Pages of a website that the plan treats alike. */
export interface PageGroup {
  keepsFailing: boolean;
  goesFirst: boolean;
  reason: Reason;
  /** False: so young a report that only a change makes a new one wanted. */
  wanted: boolean;
  pages: number;
}

/** What a night's listing brings, in pages. */
export interface Arrivals {
  missing: number;
  changed: number;
  new: number;
  recrawled: number;
}

/** The pages of one stretch of tonight's plan. */
export interface PlannedGroup extends Omit<PageGroup, 'pages' | 'wanted'> {
  /** Pages that the newest state puts here; the listing may move `leaving` of them further ahead. */
  known: number;
  leaving: number;
  /** Pages that the listing is expected to put here. */
  arriving: number;
}

/** Where tonight's plan is cut. */
export interface Cut {
  reached: ByReason;
  notReached: ByReason;
  /** How many of the pages that are known to be wanted, from the first on, are fetched. */
  knownReached: number;
}

const MOVING = ['missing', 'changed', 'recrawled'] as const;

/**
 * The stretches of tonight's plan in their order, given what the newest state wants and what the listing is expected to
 * bring. A page that moves comes from anywhere, evenly, and only ever moves ahead.
 */
export function planOf(groups: readonly PageGroup[], arrivals: Arrivals): PlannedGroup[] {
  const plan = new Map<string, PlannedGroup>();
  const stretch = ({ keepsFailing, goesFirst, reason }: Omit<PageGroup, 'pages' | 'wanted'>) => {
    const name = `${keepsFailing} ${goesFirst} ${reason}`;
    const known = plan.get(name) ?? { keepsFailing, goesFirst, reason, known: 0, leaving: 0, arriving: 0 };
    plan.set(name, known);
    return known;
  };
  for (const group of groups) if (group.wanted) stretch(group).known += group.pages;
  const all = groups.reduce((sum, { pages }) => sum + pages, 0);
  for (const reason of MOVING) {
    for (const group of groups.filter((from) => rank(reason) < rank(from.reason))) {
      const moving = Math.round((Math.min(arrivals[reason], all) * group.pages) / all);
      if (group.wanted) stretch(group).leaving += moving;
      stretch({ ...group, reason }).arriving += moving;
    }
  }
  stretch({ keepsFailing: false, goesFirst: false, reason: 'new' }).arriving += arrivals.new;
  return [...plan.values()].map(cappedLeaving).sort(byPlace);
}

function rank(reason: Reason): number {
  return REASONS.indexOf(reason);
}

/** Shares are rounded one by one. */
function cappedLeaving(group: PlannedGroup): PlannedGroup {
  return { ...group, leaving: Math.min(group.leaving, group.known) };
}

/** As `sql/plan/report_plan` orders pages. */
function byPlace(one: PlannedGroup, other: PlannedGroup): number {
  return (
    Number(one.keepsFailing) - Number(other.keepsFailing) ||
    Number(other.goesFirst) - Number(one.goesFirst) ||
    rank(one.reason) - rank(other.reason)
  );
}

export function sizeOf({ known, leaving, arriving }: PlannedGroup): number {
  return known - leaving + arriving;
}

/** What the plan wants, by reason. */
export function wantedOf(plan: readonly PlannedGroup[]): ByReason {
  return byReason((reason) => sum(plan.filter((group) => group.reason === reason).map(sizeOf)));
}

/** Cuts a plan after so many reports. */
export function cutPlan(plan: readonly PlannedGroup[], reports: number): Cut {
  const reached = byReason(() => 0);
  let left = reports;
  let knownReached = 0;
  for (const group of plan) {
    const share = Math.min(sizeOf(group), left);
    left -= share;
    reached[group.reason] += share;
    const isWhole = share === sizeOf(group);
    knownReached += isWhole ? group.known : knownWithin(group, share);
    if (!isWhole) break;
  }
  const wanted = wantedOf(plan);
  return { reached, notReached: byReason((reason) => wanted[reason] - reached[reason]), knownReached };
}

/** What is known waits longer than what arrives; what leaves lies anywhere in between, and is fetched on its own. */
function knownWithin({ known, leaving }: PlannedGroup, share: number): number {
  const staying = known - leaving;
  return staying > 0 ? Math.floor((Math.min(share, staying) * known) / staying) : 0;
}
