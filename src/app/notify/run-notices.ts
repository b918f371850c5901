import type { Config } from '../../base/config/schema.js';
import { websiteOf } from '../../base/config/websites.js';
import { duration } from '../../base/observe/format.js';
import type { LongOutage } from '../../sync/outage.js';
import { lagOf, problemsIn, type Receipt } from '../../sync/receipt.js';
import { type Kind, type Notice, noticeOf, noticeOfNone } from './notice.js';

/**
 * What was wrong with a run that no snapshot shows: websites without one, damaged journals, the clock, copies that lag.
 *
 * @param startedAt ISO 8601
 */
export function noticesOf(receipt: Receipt, config: Config, startedAt: string): Notice[] {
  const { notify, quality } = config;
  const fact = receipt.run_id ?? startedAt;
  const problems = problemsIn(receipt, quality.max_reject_ratio).flatMap(({ kind, website_id, message }) => {
    if (kind !== 'failed' && kind !== 'damaged' && kind !== 'clock') return [];
    return [ofWebsite(website_id, config)(fact, { kind, what: message, count: 1, since: startedAt })];
  });
  const behind = receipt.followers.filter(({ behind }) => behind > 0);
  const lagging = behind.map((one) =>
    noticeOfNone(one.name, { kind: 'lagging', what: lagOf(one), count: one.behind, since: startedAt }),
  );
  return [...(notify.failed ? problems : []), ...(notify.lagging ? lagging : [])];
}

/** A failure of no website in particular. @param fact what it follows from, as `noticeOf` has it */
export function failureOf(fact: string, error: string): Notice {
  return noticeOfNone(fact, { kind: 'failed', what: error, count: 1, since: null });
}

/** A long outage, or that it is over. */
export function outageNotice({ of, error, since, overAt, website_id }: LongOutage, config: Config): Notice {
  const begunAt = new Date(since).toISOString();
  const kind: Kind = overAt === null ? 'outage' : 'outage_over';
  const over = `the outage of ${of} is over after ${duration((overAt ?? since) - since)}`;
  const what = overAt === null ? `the run waits for ${of}: ${error}` : over;
  return ofWebsite(website_id, config)(begunAt, { kind, what, count: 1, since: begunAt });
}

function ofWebsite(id: string | null, config: Config): typeof noticeOfNone {
  if (id === null) return noticeOfNone;
  const website = { website_id: id, website_name: websiteOf(config, id).name };
  return (fact, given) => noticeOf(website, fact, given);
}
