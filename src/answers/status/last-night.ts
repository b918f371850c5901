import { causesIn, causeText, count, counted, grouped, type Said } from '../../base/observe/format.js';
import { DAY_MS } from '../../base/time.js';
import { FINDINGS, type Finding } from './findings.js';
import type { Found } from './found.js';

/** Of findings of one kind that differ, so many are spelled out. */
const MOST_LINES = 5;

/** Whether everything is as it should be since the last night, and that as a sentence. */
export interface LastNight {
  /** Null before the first run, and during a run unless something needs attention. */
  is_good: boolean | null;
  sentence: string;
}

/** In place of a verdict that cannot be read. */
export const UNREADABLE: LastNight = {
  is_good: null,
  sentence: 'How the last night went cannot be read: `indexhouse status` says why.',
};

/** The verdict on the last night. During a run there is none, only how far it is and what needs attention. */
export function lastNightOf(found: Found, findings: readonly Finding[]): LastNight {
  const isRunning = found.run_since !== null;
  const { runs, websites } = nightOf(found);
  if (!isRunning && runs.length === 0 && findings.every(({ kind }) => kind === 'missing')) {
    return { is_good: null, sentence: 'No snapshots yet. `indexhouse sync` creates the first one.' };
  }
  const ofAll = (part: number) => `${part === 0 ? 'none' : count(part)} of ${counted(websites, 'website')}`;
  const run = websites === 0 ? 'A run is in progress.' : `A run is in progress, done so far: ${ofAll(runs.length)}.`;
  if (findings.length === 0) {
    if (isRunning) return { is_good: null, sentence: run };
    return {
      is_good: true,
      sentence: `Last night was good: ${ofAll(runs.length)}, ${timesOf(runs, found.checked_at)}.`,
    };
  }
  const ofWebsites = findings.filter(({ website }) => website !== null);
  const others = findings.filter(({ website }) => website === null);
  const affected = new Set(ofWebsites.map(({ website }) => website)).size;
  const parts = [
    ...(affected > 0 ? [`${ofAll(affected)} (${kindsOf(ofWebsites)})`] : []),
    ...(others.length > 0 ? [kindsOf(others)] : []),
  ];
  const needs = isRunning ? `${run} Needs` : 'Last night needs';
  return { is_good: false, sentence: `${needs} attention: ${parts.join('; ')}.` };
}

/** What the run in progress has done so far, or else the newest run; and how many websites it has. */
function nightOf({ websites, run_since: since, unfinished }: Found) {
  const configured = websites.filter(({ is_configured }) => is_configured);
  const runs = configured.flatMap(({ last_run }) => last_run ?? []);
  if (since === null) {
    const newest = latest(runs.map(({ run_id }) => run_id));
    return { runs: runs.filter(({ run_id }) => run_id === newest), websites: configured.length };
  }
  // With `websites: all`, a website of the first run is known by its journal only.
  const known = new Set([...configured, ...unfinished].map(({ website_id }) => website_id));
  const current = unfinished.at(-1)?.run_id;
  const isOfIt = ({ run_id, finished_at }: (typeof runs)[number]) =>
    run_id === current || Date.parse(finished_at) >= Date.parse(since);
  return { runs: runs.filter(isOfIt), websites: known.size };
}

/** When these runs began and ended, as `02:00–02:14 UTC`; with the date if that is more than a day ago. */
function timesOf(runs: readonly { started_at: string; finished_at: string }[], checkedAt: string): string {
  const [begun = ''] = runs.map(({ started_at }) => started_at).sort();
  const ended = latest(runs.map(({ finished_at }) => finished_at));
  const isOld = Date.parse(checkedAt) - Date.parse(ended) > DAY_MS;
  return `${isOld ? `${begun.slice(0, 10)} ` : ''}${begun.slice(11, 16)}–${ended.slice(11, 16)} UTC`;
}

function latest(texts: readonly string[]): string {
  return texts.toSorted().at(-1) ?? '';
}

/** Such as `2 failed, 1 partial listing`. */
function kindsOf(findings: readonly Finding[]): string {
  return [...grouped(findings, ({ kind }) => kind)].map(([kind, all]) => countOf(kind, all.length)).join(', ');
}

/** What needs attention, a sentence for each cause: websites with the same cause share one. */
export function causesOf(findings: readonly (Said & Pick<Finding, 'kind'>)[]): string[] {
  const kinds = grouped(causesIn(findings), ({ all: [first] }) => first.kind);
  return [...kinds].flatMap(([kind, causes]) => {
    const left = causes.slice(MOST_LINES).reduce((sum, { all }) => sum + all.length, 0);
    const more = left > 0 ? [`and ${countOf(kind, left)} more; \`indexhouse status --verbose\` lists them`] : [];
    return [...causes.slice(0, MOST_LINES).map(causeText), ...more];
  });
}

/** Such as `2 partial listings`. */
function countOf(kind: Finding['kind'], many: number): string {
  return `${count(many)} ${FINDINGS[kind][many === 1 ? 0 : 1]}`;
}
