import { describe, expect, it } from 'vitest';
import { atLength, once, testAtLength } from '../given/at-length.js';
import { givenNights, type Night, type Report } from '../given/nights.js';

const CONCURRENCY = 4;
const SECTIONS = { api: { concurrency: CONCURRENCY } };

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

describe('reports that are rejected one after the other', () => {
  once.concurrent('for the same reason fifty times stop the fetching, and what is there is committed', async (test) => {
    const given = await givenNights(test.onTestFinished);
    const { receipt, exitCode, asked, state } = await given.night({
      list: pages(100),
      reports: byPlace((at) => (at < 5 ? {} : { indexing_allowed: true })),
      // One after the other, so that the fiftieth is the last.
      sections: { api: { concurrency: 1 } },
    });
    expect(receipt).toMatchObject({ status: 'committed', listing_status: 'complete', reports_status: 'failed' });
    expect(receipt.error).toMatch(
      /50 reports in a row .*indexing_allowed: .*expected string.*API seems to have changed/,
    );
    expect(exitCode).toBe(3);
    expect(asked).toHaveLength(55);
    expect(receipt.reports).toMatchObject({ planned: 55, fetched: 5, rejected: 50 });
    expect(await given.rows('coverage')).toHaveLength(100);
    expect(state.get(nameAt(99))).toMatchObject({ consecutive_failures: 0 });
  });

  const others: [string, (at: number) => Report | undefined][] = [
    ['but for a good one after 49', (at) => (at === 49 ? {} : { sitemaps: 'none' })],
    ['but for one that failed after 49', (at) => (at === 49 ? 400 : { sitemaps: 'none' })],
    ['for different reasons', (at) => (at % 2 === 0 ? { sitemaps: 'none' } : { inspection_date: 'yesterday' })],
  ];
  it.concurrent.for(atLength([], others))('%s do not', async ([, answer], test) => {
    const given = await givenNights(test.onTestFinished);
    // One after the other, so that what comes after what is certain.
    const sections = { api: { ...SECTIONS.api, concurrency: 1 } };
    const { receipt, asked } = await given.night({ list: pages(99), reports: byPlace(answer), sections });
    expect([receipt.reports_status, asked.length, receipt.error]).toEqual(['complete', 99, undefined]);
    expect(receipt.reports.rejected).toBeGreaterThanOrEqual(98);
  });

  testAtLength('are asked for again the next night, behind the ones that never failed', async () => {
    const given = await givenNights();
    const reports = { p000: { sitemaps: 1 } };
    for (const night of [1, 2]) {
      const { state } = await given.night({ list: pages(3), reports, sections: SECTIONS });
      expect(state.get('p000')).toMatchObject({ consecutive_failures: night, report_snapshot_id: null });
    }
    const { asked } = await given.night({ list: pages(3), sections: { api: { concurrency: 1 } } });
    expect(asked).toEqual(['p001', 'p002', 'p000']);
  });
});

describe('a refusal while reports are fetched', () => {
  const refusals: [what: string, status: number, key: Night['key'], says: RegExp, most: number][] = [
    ['of the key (401)', 401, { status: 401 }, /401.*api\.token/, 10 + 2 * CONCURRENCY],
    ['of every report (403), by a firewall', 403, undefined, /24 in a row were refused .*after a pause.* 403/, 50],
    ['of every report (401), but not of the key', 401, undefined, /in a row were refused .*accepts the key/, 90],
  ];
  it.concurrent.for(refusals)(
    '%s stops the fetching; the listing is committed',
    async ([, status, key, says, most], test) => {
      const given = await givenNights(test.onTestFinished);
      const sections = { api: { ...SECTIONS.api, concurrency: 1 } };
      let answered = 0;
      const reports = () => (answered++ < 10 ? {} : status);
      const { receipt, exitCode, asked } = await given.night({
        list: pages(90),
        reports,
        sections,
        ...(key && { key }),
      });
      expect(receipt).toMatchObject({ listing_status: 'complete', reports_status: 'failed', pages: { listed: 90 } });
      expect(receipt.error).toMatch(says);
      expect(exitCode).toBe(3);
      expect(asked.length).toBeLessThanOrEqual(most);
      // What was refused was not answered: it is planned again, and no failure of its page.
      expect(receipt.reports).toMatchObject({ planned: 10, fetched: 10, failed: 0 });
      const second = await given.night({ list: pages(90), sections });
      expect(second.asked.slice(0, 80)).toEqual(Object.keys(pages(90)).slice(10));
    },
  );

  it.concurrent.for([401, 403])('of single reports (%i) among good ones costs nothing else', async (status, test) => {
    const given = await givenNights(test.onTestFinished);
    const once = new Set<string>();
    const flaky = (at: number) => at % 10 === 0 && !once.has(String(at)) && once.add(String(at));
    const { receipt, exitCode } = await given.night({
      list: pages(60),
      // A 401 passes, a 403 is one of twelve pages side by side that the key may not read.
      reports: byPlace((at) => (status === 401 ? (flaky(at) ? 401 : {}) : at >= 20 && at < 32 ? 403 : {})),
      sections: { ...SECTIONS, reports: { max_failed_ratio: 0.3 } },
    });
    const failed = status === 401 ? 0 : 12;
    expect(receipt).toMatchObject({ reports_status: 'complete', reports: { fetched: 60 - failed, failed } });
    expect(exitCode).toBe(0);
  });

  once.concurrent('of one page (403) is that page’s failure', async (test) => {
    const given = await givenNights(test.onTestFinished);
    const { receipt, exitCode } = await given.night({
      list: pages(20),
      reports: byPlace((at) => (at === 7 ? 403 : {})),
      sections: SECTIONS,
    });
    expect([receipt.reports_status, receipt.reports.fetched, receipt.reports.failed]).toEqual(['complete', 19, 1]);
    expect(exitCode).toBe(0);
    expect(await given.rows('report_failures')).toMatchObject([
      { url: 'https://w.example/p007', outcome: 'failed', http_status: 403 },
    ]);
  });
});
