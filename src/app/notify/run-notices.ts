import type { Config } from '../../base/config/schema.js';
import { websiteOf } from '../../base/config/websites.js';
import { duration } from '../../base/observe/format.js';
import { calendarDate } from '../../base/time.js';
import type { LongOutage } from '../../sync/outage.js';
import { lagOf, problemsIn, type Receipt } from '../../sync/receipt.js';
import { conditionOf, type Notice, noticeOf, noticeOfNone, overNotice, type Website } from './notice.js';
import type { Over } from './over.js';

/**
 * What was wrong with a run that no snapshot shows: websites without one, damaged journals, the clock, copies that lag.
 *
 * @param startedAt ISO 8601
 */
export function noticesOf(receipt: Receipt, startedAt: string): Notice[] {
  const fact = receipt.run_id ?? startedAt;
  const problems = problemsIn(receipt).flatMap(({ kind, website_id, message }) => {
    if (kind !== 'failed' && kind !== 'damaged' && kind !== 'clock') return [];
    const website = receipt.websites.find((one) => one.website_id === website_id) ?? null;
    return [ofWebsite(website)(fact, { kind, what: message, count: 1, since: startedAt })];
  });
  const behind = receipt.followers.filter(({ behind }) => behind > 0);
  const lagging = behind.map((one) =>
    noticeOfNone(one.name, { kind: 'lagging', what: lagOf(one), count: one.behind, since: startedAt }),
  );
  return [...problems, ...lagging];
}

/** A failure of no website in particular. @param fact what it follows from, as `noticeOf` has it */
export function failureOf(fact: string, error: string): Notice {
  return noticeOfNone(fact, { kind: 'failed', what: error, count: 1, since: null });
}

/** That a file of the warehouse cannot be read; once a day. @param websiteId whose file it is, if that is known */
export function unreadableNotice(
  websiteId: string | null,
  error: string,
  { config, now }: { config: Config; now: number },
): Notice {
  const given = { kind: 'unreadable', what: `the warehouse cannot be read: ${error}`, count: 1, since: null } as const;
  const website =
    websiteId === null ? null : { website_id: websiteId, website_name: websiteOf(config, websiteId).name };
  return ofWebsite(website)(calendarDate(new Date(now), config.warehouse.time_zone), given);
}

/** A long outage. */
export function outageNotice({ of, error, since, website }: LongOutage): Notice {
  const begunAt = new Date(since).toISOString();
  const given = { kind: 'outage', what: `the run waits for ${of}: ${error}`, count: 1, since: begunAt } as const;
  return ofWebsite(website && { website_id: website.id, website_name: website.name })(begunAt, given);
}

/** That a long outage is over, if it is. */
export function outageOver(outage: LongOutage): Over[] {
  const { of, since, overAt } = outage;
  if (overAt === null) return [];
  const told = outageNotice(outage);
  const [condition, fact] = conditionOf(told);
  const { website_id, website_name } = told;
  const over = overNotice(condition, fact, { website_id: website_id ?? '*', website_name });
  const what = `the outage of ${of} is over after ${duration(overAt - since)}`;
  return [{ of: [condition, fact], notice: over && { ...over, what, since: told.since } }];
}

function ofWebsite(website: Website | null): typeof noticeOfNone {
  return website === null ? noticeOfNone : (fact, given) => noticeOf(website, fact, given);
}
