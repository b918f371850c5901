import { count, counted } from '../../base/observe/format.js';
import { DAY_MS } from '../../base/time.js';
import { FINDINGS, type Finding } from './findings.js';
import type { Found } from './found.js';

/** Of websites that have the same finding, so many are named. */
const MOST_NAMED = 5;
/** Of findings of one kind that differ, so many are spelled out. */
const MOST_LINES = 5;

/** Whether everything is as it should be since the last night, and that as a sentence. */
export interface LastNight {
  /** Null before the first run. */
  is_good: boolean | null;
  sentence: string;
}

/** The verdict on the last night. Its times are those of the newest run, in UTC. */
export function lastNightOf({ websites, checked_at }: Found, findings: readonly Finding[]): LastNight {
  const configured = websites.filter(({ is_configured }) => is_configured);
  const runs = configured.flatMap(({ last_run }) => last_run ?? []);
  if (runs.length === 0 && findings.length === 0) {
    return { is_good: null, sentence: 'No snapshots yet. `indexhouse sync` creates the first one.' };
  }
  const newest = runs
    .map(({ run_id }) => run_id)
    .sort()
    .at(-1);
  const own = runs.filter(({ run_id }) => run_id === newest);
  const [begun, ended] = [
    own.map((run) => run.started_at).sort()[0],
    own
      .map((run) => run.finished_at)
      .sort()
      .at(-1),
  ];
  const isOld = !ended || Date.parse(checked_at) - Date.parse(ended) > DAY_MS;
  const clock = (time: string, length: number) => time.slice(length === 16 ? 0 : 11, 16).replace('T', ' ');
  const when = begun && ended ? `${clock(begun, isOld ? 16 : 5)}–${clock(ended, 5)} UTC` : null;
  const affected = new Set(findings.flatMap(({ website }) => website ?? []));
  const of = (good: number) => `${count(good)} of ${counted(configured.length, 'website')}`;
  if (findings.length === 0) {
    return { is_good: true, sentence: `Last night was good: ${of(own.length)}${when ? `, ${when}` : ''}.` };
  }
  const kinds = (some: readonly Finding[]) => {
    const named = grouped(some, ({ kind }) => kind);
    return [...named].map(([kind, all]) => countOf(kind, all.length)).join(', ');
  };
  const [ofWebsites, others] = [findings.filter(({ website }) => website), findings.filter(({ website }) => !website)];
  const parts = [
    ...(affected.size > 0 ? [`${of(affected.size)} (${kinds(ofWebsites)})`] : []),
    ...(others.length > 0 ? [kinds(others)] : []),
  ];
  return { is_good: false, sentence: `Last night needs attention: ${parts.join('; ')}.` };
}

/** What needs attention, a sentence for each cause: websites with the same cause share one. */
export function causesOf(findings: readonly Finding[]): string[] {
  const same = grouped(findings, ({ kind, message }) => `${kind} ${message}`);
  const causes = [...same.values()].map((all) => ({ kind: all[0]?.kind, text: causeText(all), findings: all.length }));
  return [...grouped(causes, ({ kind }) => kind)].flatMap(([kind = 'failed', all]) => {
    const left = all.slice(MOST_LINES).reduce((sum, { findings }) => sum + findings, 0);
    const more = left > 0 ? [`and ${countOf(kind, left)} more; \`indexhouse status --verbose\` lists them`] : [];
    return [...all.slice(0, MOST_LINES).map(({ text }) => text), ...more];
  });
}

/** Such as `2 partial listings`. */
function countOf(kind: Finding['kind'], many: number): string {
  return `${count(many)} ${FINDINGS[kind][many === 1 ? 0 : 1]}`;
}

function causeText(all: readonly Finding[]): string {
  const names = all.flatMap(({ website }) => website ?? []);
  const message = all[0]?.message ?? '';
  if (names.length === 0) return message;
  const more = names.length > MOST_NAMED ? ` and ${count(names.length - MOST_NAMED)} more` : '';
  return `${names.slice(0, MOST_NAMED).join(', ')}${more}: ${message}`;
}

function grouped<T, K>(all: readonly T[], keyOf: (one: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return groups;
}
