import { expect, test } from 'vitest';
import { givenNights, type Night, type Report } from '../given/nights.js';

/** One after the other, so that what comes after what is certain. */
const ONE_BY_ONE = { api: { concurrency: 1 } };

/** So many pages, named so that they are asked for in this order. */
function pages(count: number): Record<string, object> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [nameAt(at), {}]));
}

function nameAt(at: number): string {
  return `p${String(at).padStart(3, '0')}`;
}

/** Answers by the place of the page in the plan. */
function byPlace(answer: (at: number) => Report | undefined): (name: string) => Report | undefined {
  return (name) => answer(Number(name.slice(1)));
}

test('fifty reports in a row that are rejected for the same reason stop the fetching, and no fewer', async () => {
  const given = await givenNights();
  // Forty-nine, a good one, forty-nine, one that fails, and two reasons in turn.
  const answer = (at: number): Report => {
    if (at === 49) return {};
    if (at === 99) return 400;
    return at < 120 || at % 2 ? { sitemaps: 'none' } : { inspection_date: 'yesterday' };
  };
  const first = await given.night({ list: pages(180), reports: byPlace(answer), sections: ONE_BY_ONE });
  expect([first.receipt.reports_status, first.asked.length, first.receipt.error]).toEqual(['complete', 180, undefined]);
  expect(first.receipt.reports.rejected).toBe(178);

  const other = await givenNights();
  const second = await other.night({
    list: pages(60),
    reports: byPlace((at) => (at < 5 ? {} : { indexing_allowed: true })),
    sections: ONE_BY_ONE,
  });
  const { receipt, exitCode, asked, state } = second;
  expect(receipt).toMatchObject({ status: 'committed', listing_status: 'complete', reports_status: 'failed' });
  expect(receipt.error).toMatch(/50 reports in a row .*indexing_allowed: .*expected string.*API seems to have changed/);
  expect([exitCode, asked.length]).toEqual([3, 55]);
  expect(receipt.reports).toMatchObject({ planned: 55, fetched: 5, rejected: 50 });
  expect(await other.rows('coverage')).toHaveLength(60);
  expect(state.get(nameAt(59))).toMatchObject({ consecutive_failures: 0 });
});

test.each<[what: string, status: number, key: Night['key'], says: RegExp, most: number]>([
  ['of the key (401)', 401, { status: 401 }, /401.*api\.token/, 12],
  ['of every report (403), by a firewall', 403, undefined, /24 in a row were refused .*after a pause.* 403/, 50],
  ['of every report (401), but not of the key', 401, undefined, /in a row were refused .*accepts the key/, 90],
])('a refusal %s stops the fetching; the listing is committed', async (_, status, key, says, most) => {
  const given = await givenNights();
  let answered = 0;
  const reports = () => (answered++ < 10 ? {} : status);
  const night = { list: pages(90), reports, sections: ONE_BY_ONE, ...(key && { key }) };
  const { receipt, exitCode, asked, state } = await given.night(night);
  expect(receipt).toMatchObject({ listing_status: 'complete', reports_status: 'failed', pages: { listed: 90 } });
  expect(receipt.error).toMatch(says);
  expect(exitCode).toBe(3);
  expect(asked.length).toBeLessThanOrEqual(most);
  // What was refused was not answered: it stays wanted, and is no failure of its page.
  expect(receipt.reports).toMatchObject({ planned: 10, fetched: 10, failed: 0, left: 80 });
  expect(state.get(nameAt(10))).toMatchObject({ consecutive_failures: 0 });
});

test('refusals of single reports among good ones cost nothing else', async () => {
  const given = await givenNights();
  const once = new Set<number>();
  // A 401 passes; a 403 is one of twelve pages side by side that the key may not read.
  const answer = (at: number) => {
    if (at % 10 === 0 && once.size < once.add(at).size) return 401;
    return at > 20 && at < 33 && at !== 30 ? 403 : {};
  };
  const { receipt, exitCode } = await given.night({
    list: pages(60),
    reports: byPlace(answer),
    sections: { api: { concurrency: 4 }, reports: { max_failed_ratio: 0.3 } },
  });
  expect(receipt).toMatchObject({ reports_status: 'complete', reports: { fetched: 49, failed: 11 } });
  expect(exitCode).toBe(0);
  expect((await given.rows('report_failures'))[0]).toMatchObject({ outcome: 'failed', http_status: 403 });
});
