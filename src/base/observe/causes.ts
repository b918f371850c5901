import { count } from './format.js';

/** Of websites with the same problem, so many are named. */
export const MOST_NAMED = 5;

/** A shorter id may be a word of the message. */
const LEAST_ID = 4;

/** Something to say, mostly about a website. */
export interface Said {
  kind: string;
  /** Null if it is about none in particular. */
  website_id: string | null;
  /** What people call the website. */
  website: string | null;
  message: string;
}

/** What has the same cause for one or several websites. */
export interface Cause<T> {
  /** Of several websites without what differs: the id of each. */
  message: string;
  /** The websites, such as `a, b and 3 more`; empty if it is about none. */
  names: string;
  all: [T, ...T[]];
}

/** Groups what is said for the same reason, in the order of the first of each group. */
export function causesIn<T extends Said>(said: readonly T[]): Cause<T>[] {
  return [...grouped(said, (one) => JSON.stringify([one.kind, withoutId(one)])).values()].map((all) => {
    const [first] = all;
    const isSame = all.every(({ message }) => message === first.message);
    const names = namesText(all.flatMap(({ website }) => website ?? []));
    return { message: isSame ? first.message : withoutId(first), names, all };
  });
}

/** The first names and how many more, such as `a, b and 3 more`. */
export function namesText(names: readonly string[]): string {
  const more = names.length > MOST_NAMED ? ` and ${count(names.length - MOST_NAMED)} more` : '';
  return `${names.slice(0, MOST_NAMED).join(', ')}${more}`;
}

/** A sentence about a cause. */
export function causeText({ names, message }: Pick<Cause<unknown>, 'names' | 'message'>): string {
  return names === '' ? message : `${names}: ${message}`;
}

function withoutId({ website_id: id, message }: Said): string {
  if (id === null || id.length < LEAST_ID) return message;
  const written = [...new Set([id, encodeURIComponent(id)])];
  return written.reduce((text, one) => text.replaceAll(one, '…'), message);
}

export function grouped<T, K>(all: readonly T[], keyOf: (one: T) => K): Map<K, [T, ...T[]]> {
  const groups = new Map<K, [T, ...T[]]>();
  for (const one of all) {
    const group = groups.get(keyOf(one));
    if (group) group.push(one);
    else groups.set(keyOf(one), [one]);
  }
  return groups;
}
