import { z } from 'zod';
import { NOTICE_KINDS } from '../../base/config/notify.js';
import { causesIn, counted, grouped, MOST_NAMED } from '../../base/observe/format.js';

const MOST_EXAMPLES = 5;

/** Worst first. */
export const KINDS = [...NOTICE_KINDS, 'left_out'] as const;
export type Kind = (typeof KINDS)[number];

/** Each kind of notice: its name in a message's title, and what to say once that is right again. */
const ALL: Record<Kind, readonly [title: string, over: string | null]> = {
  failed: ['a run failed', 'the last run got a snapshot again'],
  unreadable: ['the warehouse cannot be read', 'the warehouse can be read again'],
  outage: ['a run waits for an outage to end', 'the outage is over'],
  overdue: ['a night was missed', 'the nights begin again'],
  stale: ['snapshots are old', 'the newest snapshot is not old any more'],
  reports: ['reports failed', 'reports are fetched again'],
  damaged: ['a journal or a file was damaged', 'a later run found no damage'],
  clock: ['the clock may be wrong', 'the clock is right again'],
  sign_in: ['a sign-in ends', 'the sign-in lasts again'],
  lagging: ['a copy lags', 'the copy is up to date again'],
  indexed_drop: ['indexed pages fell', 'the pages that fell out are indexed again'],
  directory_drop: ['indexed pages fell in a directory', 'the pages that fell out of a directory are indexed again'],
  watched: ['watched pages left the index', 'the watched pages are indexed again'],
  robots_blocked: ['robots.txt blocks more pages', 'robots.txt does not block these pages any more'],
  canonical_flips: ['canonicals changed', null],
  partial: ['listings are partial', 'the listing is complete again'],
  rejects: ['many records were rejected', 'the records are accepted again'],
  quiet: ['sources no longer name their pages', 'the sources name their pages again'],
  drift: ['the service sends something new', null],
  over: ['something is right again', null],
  left_out: ['older notices were left out', null],
};

export function titleOf(kind: Kind): string {
  return ALL[kind][0];
}

const text = z.string();

/** One thing that is wrong. The names are those of the JSON that channels get. */
export const notice = z.object({
  /** From the kind, the website and the snapshot or run, so that the same notice is not sent twice. */
  id: text,
  kind: z.enum(KINDS),
  website_id: text.nullable(),
  website_name: text.nullable(),
  /** Of several websites, which share a notice: the first names, and how many more there are. */
  websites: z.array(text).default([]),
  more_websites: z.int().default(0),
  /** A sentence. */
  what: text,
  /** Pages, or whatever the kind counts. */
  count: z.int(),
  /** ISO 8601: the listing before, the first failure, the newest snapshot. */
  since: text.nullable(),
  /** Of most of the pages, like `state`. */
  directory: text.nullable(),
  state: text.nullable(),
  /** URLs, five at most. */
  examples: z.array(text),
  /** A command that shows all of it. */
  command: text,
});
export type Notice = z.infer<typeof notice>;

export interface Website {
  website_id: string;
  website_name: string | null;
}

/** A notice about a website, with a command that shows all of them if none is given. @param fact the id of the snapshot or run that it follows from */
export function noticeOf(
  { website_id, website_name }: Website,
  fact: string,
  given: Pick<Notice, 'kind' | 'what' | 'count' | 'since'> & Partial<Notice>,
): Notice {
  const id = `${given.kind}:${website_id}:${fact}`;
  const rest = { websites: [], more_websites: 0, directory: null, state: null, examples: [] };
  return { id, website_id, website_name, ...rest, command: 'indexhouse status', ...given };
}

/** A notice about no website in particular. */
export function noticeOfNone(fact: string, given: Parameters<typeof noticeOf>[2]): Notice {
  return { ...noticeOf({ website_id: '*', website_name: null }, fact, given), website_id: null };
}

/** What is told, apart from the snapshot or run that it follows from; and that. A copy lags until it does not. */
export function conditionOf({ id, kind, website_id }: Notice): [condition: string, fact: string] {
  const condition = kind === 'lagging' ? id : `${kind}:${website_id ?? '*'}`;
  return [condition, id.slice(condition.length + 1)];
}

/** The parts of a condition. */
export function partsOf(condition: string): { kind: Kind | undefined; website_id: string } {
  const [name = ''] = condition.split(':', 1);
  return { kind: KINDS.find((kind) => kind === name), website_id: condition.slice(name.length + 1) };
}

/** That something is right again; null if it is of a kind that ends by itself. */
export function overNotice(condition: string, fact: string, website: Website): Notice | null {
  const { kind } = partsOf(condition);
  const what = kind ? ALL[kind][1] : null;
  if (what === null) return null;
  const notice = noticeOf(website, fact, { kind: 'over', what, count: 1, since: null });
  const id = ['over', condition, ...(fact === '' ? [] : [fact])].join(':');
  return { ...notice, id, website_id: website.website_id.startsWith('*') ? null : website.website_id };
}

/** Of a kind, so many notices that differ in more than the website are sent; all others share one. */
const MOST_OF_A_KIND = 5;

/** The same notices, of which those with the same cause are one. */
export function together(notices: readonly Notice[]): Notice[] {
  const said = notices.map((notice) => ({
    ...{ kind: notice.kind, website_id: notice.website_id, message: notice.what, notice },
    website: notice.website_id && (notice.website_name ?? notice.website_id),
  }));
  const kinds = grouped(causesIn(said), ({ all: [first] }) => first.kind);
  return [...kinds.values()].flatMap((causes) => {
    const [first, rest] = [causes.slice(0, MOST_OF_A_KIND), causes.slice(MOST_OF_A_KIND)];
    const left = rest.flatMap(({ all }) => all);
    return [
      ...first.flatMap(shared),
      ...(rest.length > 1 && left[0] ? shared({ all: left, message: titleOf(left[0].kind) }) : rest.flatMap(shared)),
    ];
  });
}

/** One notice for several. */
function shared({ all: said, message: what }: { all: readonly { notice: Notice }[]; message: string }): Notice[] {
  const all = said.map(({ notice }) => notice);
  const [first, second] = all;
  if (!first || !second) return all;
  const same = <T>(values: readonly T[]) => (new Set(values).size === 1 ? (values[0] ?? null) : null);
  const names = [...new Set(all.flatMap((one) => one.website_name ?? one.website_id ?? []))];
  return [
    {
      ...first,
      ...{ what, website_id: null, website_name: null },
      websites: names.slice(0, MOST_NAMED),
      more_websites: Math.max(0, names.length - MOST_NAMED),
      count: all.reduce((sum, { count }) => sum + count, 0),
      since: all.flatMap(({ since }) => since ?? []).sort()[0] ?? null,
      directory: same(all.map(({ directory }) => directory)),
      state: same(all.map(({ state }) => state)),
      examples: all.flatMap(({ examples }) => examples).slice(0, MOST_EXAMPLES),
      command: same(all.map(({ command }) => command)) ?? 'indexhouse status',
    },
  ];
}

/** One of each kind, for testing the channels. */
export function exampleNotices(now: number): Notice[] {
  const website = { website_id: '645f2e5cd8cd9b7bd8b55ab1', website_name: 'shop.example' };
  return KINDS.map((kind) =>
    noticeOf(website, `test-${now}`, {
      kind,
      what: `this is a test: ${titleOf(kind)} (${counted(12, 'page')})`,
      count: 12,
      since: new Date(now).toISOString(),
      directory: '/blog/',
      state: 'Crawled - currently not indexed',
      examples: ['https://shop.example/blog/a', 'https://shop.example/blog/b'],
    }),
  );
}
