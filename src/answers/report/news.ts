import { count, counted } from '../../base/observe/format.js';
import { shortened } from '../html/html.js';
import { directoriesChanged, type Places, statesGrown } from './over-time.js';

const MOST_NAMES = 3;
const NAME_CHARACTERS = 60;

/**
 * What is new since the period before, in one or two sentences: losses that stand out and did not then, and how many of the
 * pages that fell out then are back.
 *
 * @param earlier null if several websites are compared, whose directories may have the same names
 */
export function newsOf(
  days: number,
  { now, earlier, fell_out, back }: { now: Places; earlier: Places | null; fell_out: number; back: number },
): string[] {
  const before = days === 1 ? 'the day before' : `the ${days} days before`;
  const are = back === 1 ? 'is' : 'are';
  return [
    ...(earlier ? [newSince(before, now, earlier)] : []),
    ...(fell_out > 0
      ? [`Of the ${counted(fell_out, 'page')} that fell out in ${before}, ${count(back)} ${are} indexed again.`]
      : []),
  ];
}

function newSince(before: string, now: Places, earlier: Places): string {
  const known = namesOf(earlier);
  const added = namesOf(now).filter((name) => !known.includes(name));
  if (added.length === 0) return `No loss stands out that did not in ${before}.`;
  return `New since ${before}: losses ${added.slice(0, MOST_NAMES).join(', ')}.`;
}

function namesOf({ directories, states }: Places): string[] {
  const { lost } = directoriesChanged(directories);
  return [
    ...lost.map(({ directory }) => `in ${shortened(directory, NAME_CHARACTERS)}`),
    ...statesGrown(states).map((state) => `to “${shortened(state.index_coverage_state, NAME_CHARACTERS)}”`),
  ];
}
