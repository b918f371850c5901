import { z } from 'zod';
import { counted } from '../../base/observe/format.js';

/** The kinds of notices, worst first, with their names in a message's title. */
export const KINDS = {
  failed: 'a run failed',
  outage: 'a run waits for an outage to end',
  outage_over: 'an outage is over',
  stale: 'snapshots are old',
  reports: 'reports failed',
  damaged: 'a journal was damaged',
  clock: 'the clock may be wrong',
  lagging: 'a copy lags',
  indexed_drop: 'indexed pages fell',
  directory_drop: 'indexed pages fell in a directory',
  watched: 'watched pages left the index',
  robots_blocked: 'robots.txt blocks more pages',
  canonical_flips: 'canonicals changed',
  partial: 'listings are partial',
  rejects: 'many records were rejected',
  quiet: 'sources no longer name their pages',
  drift: 'the service sends something new',
} as const;
export type Kind = keyof typeof KINDS;

const text = z.string();

/** One thing that is wrong. The names are those of the JSON that channels get. */
export const notice = z.object({
  /** From the kind, the website and the snapshot or run, so that the same notice is not sent twice. */
  id: text,
  kind: z.enum(Object.keys(KINDS) as [Kind, ...Kind[]]),
  website_id: text.nullable(),
  website_name: text.nullable(),
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
  const rest = { directory: null, state: null, examples: [], command: 'indexhouse status' };
  return { id, website_id, website_name, ...rest, ...given };
}

/** A notice about no website in particular. */
export function noticeOfNone(fact: string, given: Parameters<typeof noticeOf>[2]): Notice {
  return { ...noticeOf({ website_id: '*', website_name: null }, fact, given), website_id: null };
}

/** One of each kind, for testing the channels. */
export function exampleNotices(now: number): Notice[] {
  const website = { website_id: '645f2e5cd8cd9b7bd8b55ab1', website_name: 'shop.example' };
  return (Object.keys(KINDS) as Kind[]).map((kind) =>
    noticeOf(website, `test-${now}`, {
      kind,
      what: `this is a test: ${KINDS[kind]} (${counted(12, 'page')})`,
      count: 12,
      since: new Date(now).toISOString(),
      directory: '/blog/',
      state: 'Crawled - currently not indexed',
      examples: ['https://shop.example/blog/a', 'https://shop.example/blog/b'],
    }),
  );
}
