import { z } from 'zod';
import { counted, duration, moment, sentence } from '../../base/observe/format.js';
import { sql } from '../../base/storage/sql.js';
import { DAY_MS, timeOfId } from '../../base/time.js';
import { unfinishedJournals } from '../../warehouse/journal/folder.js';
import { NO_WEBSITE, readRunFile } from '../../warehouse/journal/run-file.js';
import { warehouseFolder } from '../../warehouse/log/folder/layout.js';
import type { Newest, Reader } from '../query/reader.js';
import type { AgeRule } from '../query/reader-options.js';

/** The rule if only a folder is given. */
export const DEFAULT_AGE_RULE = { maxAge: 2 * DAY_MS, websites: [] } satisfies AgeRule;

export const dataAge = z.object({
  as_of: z.string().describe('When the newest complete listing began, UTC; of several websites, the oldest of these.'),
  website: z.string().nullable().describe('The name of that website; null if the answer is about one website.'),
  old: z.string().nullable().describe('How old the data is, if it is too old: such as `10 days`.'),
  why: z.string().nullable().describe('Why it is too old.'),
});
/** As of when an answer is. */
export type DataAge = z.infer<typeof dataAge>;

const runRow = z.object({ outcome: z.string(), error: z.string().nullable(), finished_at: z.string() });

/**
 * How old the data of these websites is, and why if it is too old; null before the first snapshot.
 *
 * @param now milliseconds since 1970
 */
export async function dataAgeOf(reader: Reader, asked: readonly Newest[], now: number): Promise<DataAge | null> {
  const { maxAge, websites, isExcepted = () => false }: AgeRule = reader.options.ageRule ?? DEFAULT_AGE_RULE;
  const configured = asked.filter(
    ({ id }) => !isExcepted(id) && (websites.length === 0 || websites.some((one) => one.id === id)),
  );
  const covered = configured.length > 0 ? configured : asked;
  const [oldest] = covered.toSorted((one, other) => Date.parse(one.listedAt) - Date.parse(other.listedAt));
  if (!oldest) return null;
  const age = now - Date.parse(oldest.listedAt);
  const isOld = staleText(age, maxAge) !== null;
  return {
    as_of: oldest.listedAt,
    website: covered.length > 1 ? oldest.name : null,
    old: isOld ? (age < DAY_MS ? duration(age) : counted(Math.floor(age / DAY_MS), 'day')) : null,
    why: isOld ? await whyOld(reader, oldest).catch(() => '`indexhouse status` says why') : null,
  };
}

/** What is wrong with a newest snapshot of this age; null if it is not too old. Both in milliseconds. */
export function staleText(age: number, maxAge: number): string | null {
  return age > maxAge ? `the last snapshot is ${duration(age)} old, more than ${duration(maxAge)}` : null;
}

async function whyOld(reader: Reader, { id, snapshotAt, listedAt }: Newest): Promise<string> {
  if (snapshotAt !== listedAt) return `no listing since was complete; the last one is of ${moment(snapshotAt)}`;
  const { warehouse } = reader.options;
  const left = await readRunFile(warehouseFolder(warehouse).run);
  if (left?.waiting) return `the run waits for ${left.waiting.for} since ${moment(left.waiting.since)}`;
  const kept = left?.failed[id] ?? left?.failed[NO_WEBSITE];
  if (kept) return `the last run got no snapshot: ${kept.error}`;
  const [run] = await reader.rows(runRow, sql('answers/status/last_run'), { website: id });
  if (run?.outcome === 'failed') return `the last run got no snapshot: ${run.error ?? 'no reason was recorded'}`;
  const unfinished = (await unfinishedJournals(warehouse)).find(({ websiteId }) => websiteId === id);
  if (unfinished) return `the run of ${moment(timeOfId(unfinished.runId))} is not finished`;
  return `no run since ${moment(run?.finished_at ?? snapshotAt)}; check that \`indexhouse sync\` runs`;
}

/** As of when an answer is, in words. If that is too old, the age comes first. */
export function ageText({ as_of, website, old, why }: DataAge): string {
  const time = `as of ${moment(as_of)}`;
  if (old !== null)
    return `${website === null ? 'this data' : `the data of ${website}`} is ${old} old, ${time}: ${why}`;
  return website === null ? time : `${time} (${website}, the oldest)`;
}

/** The same as a sentence. */
export function ageSentence(age: DataAge): string {
  return sentence(ageText(age));
}
