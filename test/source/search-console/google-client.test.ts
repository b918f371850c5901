import { expect, it } from 'vitest';
import { listSitemaps, listSites } from '../../../src/source/search-console/google-client.js';
import { inspect } from '../../../src/source/search-console/inspection.js';
import { searchRows, searchTotals } from '../../../src/source/search-console/search-analytics.js';
import { google, refusal, spent } from './given-google.js';

const URLS = Array.from({ length: 12 }, (_, at) => `https://www.example.com/${at}`);
const FINE = { inspectionResult: { indexStatusResult: { verdict: 'PASS' } } };
const BROKEN = refusal(500, 'INTERNAL', 'Internal error encountered.');

/** Lets nobody pass before as many have come. */
function together(count: number): () => Promise<void> {
  const waiting: (() => void)[] = [];
  return () =>
    new Promise((pass) => {
      if (waiting.push(pass) >= count) for (const each of waiting) each();
    });
}

it('a quota that is gone for the minute is waited for, by all calls of the property', async () => {
  const gate = together(4);
  const given = await google(async ({ number }) => {
    if (number === 1 || number > 5) return undefined;
    await gate();
    return spent();
  });
  const outcomes = await Promise.all(URLS.map((url) => inspect(given.client, { ...given.call, url })));
  expect(outcomes.every((outcome) => outcome?.outcome === 'fetched')).toBe(true);
  expect(given.purpose.counts).toMatchObject({ sent: 16, throttled: 4, retried: 4 });
  expect(given.clock.slept[0]).toBe(60_000);
});

it('a quota that is gone for the day ends the property’s after one probe, and leaves its pages for another day', async () => {
  const gate = together(8);
  const given = await google(async ({ number, body }) => {
    if (number === 1 || JSON.stringify(body).includes('sc-domain:other')) return { body: FINE };
    await gate();
    // The first call after the pause fails, and says nothing about the quota.
    return number === 10 ? BROKEN : spent();
  });
  const ask = (url: string) => inspect(given.client, { ...given.call, url });
  expect((await Promise.all(URLS.map(ask))).slice(1)).toEqual(URLS.slice(1).map(() => null));
  expect(await ask('https://www.example.com/later')).toBeNull();
  // Eight were on their way, and one more found out.
  expect(given.purpose.counts).toMatchObject({ sent: 11, throttled: 9 });
  expect(given.calls).toHaveLength(11);
  const other = { property: 'sc-domain:other.example', purpose: given.purpose };
  expect(await inspect(given.client, { ...other, url: 'https://other.example/' })).not.toBeNull();
});

it.each([
  [BROKEN, 3, { status: 500, message: /INTERNAL: Internal error/ }],
  [{ ...refusal(503, 'UNAVAILABLE', 'Busy.'), status: 200 }, 3, { status: 503, message: /UNAVAILABLE: Busy/ }],
  [refusal(400, 'INVALID_ARGUMENT', 'Not a URL.'), 1, { status: 400, message: /INVALID_ARGUMENT: Not a URL/ }],
  [refusal(403, 'PERMISSION_DENIED', 'Not part of this property.'), 1, { status: 403, message: /Not part of/ }],
  [{ status: 302, headers: { location: 'http://127.0.0.1/' } }, 1, { status: 302, message: /redirects are refused/ }],
])('a failed inspection is its page’s alone: %j', async (answer, calls, { status, message }) => {
  const given = await google(() => answer);
  const outcome = await inspect(given.client, { ...given.call, url: 'https://www.example.com/' });
  expect(outcome).toEqual({ outcome: 'failed', status, message: expect.stringMatching(message) });
  expect(given.calls).toHaveLength(calls);
  expect(given.purpose.counts).toEqual({ sent: calls, throttled: 0, retried: calls - 1 });
});

it.each([
  [
    refusal(403, 'PERMISSION_DENIED', 'No.', 'ACCESS_TOKEN_SCOPE_INSUFFICIENT'),
    /correct that in Google Cloud, or make \S+ again/,
  ],
  [
    refusal(403, 'PERMISSION_DENIED', 'The API requires a quota project, which is not set.'),
    /GOOGLE_CLOUD_QUOTA_PROJECT/,
  ],
  [
    refusal(403, 'PERMISSION_DENIED', 'It has not been used in project 482 before or it is disabled.'),
    /run `gcloud services enable searchconsole.googleapis.com --project=482`/,
  ],
  [refusal(400, 'INVALID_ARGUMENT', "Project 'projects/nope' not found or deleted."), /GOOGLE_CLOUD_QUOTA_PROJECT/],
])('a refusal about the setup ends all calls with both remedies: %j', async (answer, remedy) => {
  const { client, purpose, calls } = await google(() => answer, { kind: 'authorized_user' });
  const refused = { kind: 'unauthorized', message: expect.stringMatching(remedy) };
  await expect(listSites(client, purpose)).rejects.toMatchObject(refused);
  await expect(listSites(client, purpose)).rejects.toMatchObject(refused);
  expect(calls).toHaveLength(1);
});

it('says who can allow a refused list', async () => {
  const refused = await google(() => refusal(403, 'PERMISSION_DENIED', 'No.'));
  await expect(listSitemaps(refused.client, refused.call)).rejects.toThrow(/; let an owner give indexhouse@\S+ access/);
});

it.each([
  ['a while', 3, { value: [] }],
  ['all the time', 9, { message: expect.stringMatching(/search analytics of sc-domain:\S+ is used up.* 16 minutes/) }],
])('search analytics that is refused with a 403 for its load waits for minutes: %s', async (_, refused, expected) => {
  const given = await google(({ line, number }) => {
    if (!line.endsWith('/query')) return {};
    const bare = { status: 403, body: {} };
    const load = number > 1 ? bare : refusal(403, 'PERMISSION_DENIED', 'Quota exceeded.', 'quotaExceeded');
    return number <= refused ? load : { body: { rows: [] } };
  });
  const day = { date: '2026-11-01', type: 'web', isFinal: true } as const;
  const first = searchRows(given.client, { ...given.call, ...day }).next();
  const ended = await first.then(
    ({ value = [] }) => ({ value }),
    ({ message }) => ({ message }),
  );
  expect([ended, given.clock.slept]).toEqual([expected, [60_000, 300_000, 600_000]]);
  // No other call waits for that.
  expect(await listSitemaps(given.client, given.call)).toEqual([]);
  expect(given.purpose.counts.throttled).toBe(Math.min(refused, 4));
});

it('asks for the rows of a day page by page, until one is not full', async () => {
  const days = [['/a', '/b'], ['/c', '/d'], ['/e']].map((paths) => ({
    rows: paths.map((path) => ({ keys: [`https://www.example.com${path}`], clicks: 1, impressions: 2, position: 3 })),
  }));
  const { client, call, calls } = await google(({ number }) => ({ body: days[number - 1] ?? {} }));
  const urls: (string | null)[] = [];
  const day = { date: '2026-11-01', type: 'web', isFinal: true, most: 2 } as const;
  for await (const rows of searchRows(client, { ...call, ...day })) urls.push(...rows.map(({ url }) => url));
  expect(urls).toEqual(['a', 'b', 'c', 'd', 'e'].map((path) => `https://www.example.com/${path}`));
  expect(calls.map(({ body }) => body)).toMatchObject([0, 2, 4].map((startRow) => ({ startRow, rowLimit: 2 })));
});

it('asks for lists 200 times a minute, whichever properties they are of', async () => {
  const { client, purpose, clock } = await google(() => ({}));
  const began = clock.now;
  for (let one = 0; one < 205; one++) await listSitemaps(client, { property: `sc-domain:${one}.example`, purpose });
  expect(clock.now - began).toBeGreaterThan(60_000);
});

it('takes refusals without a reason for pressure while they pass, or while other pages are answered', async () => {
  const refused = refusal(403, 'PERMISSION_DENIED', 'You do not own this site.');
  const pressed = await google(({ number }) => (number < 12 ? refused : undefined));
  expect(await listSites(pressed.client, pressed.purpose)).toHaveLength(1);
  expect([pressed.calls.length, pressed.clock.slept]).toEqual([12, Array(11).fill(5000)]);
  expect(pressed.notices).toEqual([...Array(11).fill('forbidden'), 'learned_pace']);
  const cut = await google(({ number }) => (number === 1 ? { body: '{"inspectionResult":{"index' } : undefined));
  const asked = { ...cut.call, url: 'https://example.com/' };
  expect([await inspect(cut.client, asked), cut.calls.length]).toMatchObject([{ outcome: 'fetched' }, 2]);
  const own = await google(({ body }) => (JSON.stringify(body).includes('/own/') ? refused : undefined));
  for (let at = 0; at < 20; at++) {
    const outcome = await inspect(own.client, { ...own.call, url: `https://example.com/${at < 2 ? '' : 'own/'}${at}` });
    expect([at, outcome]).toMatchObject([at, at < 2 ? { outcome: 'fetched' } : { outcome: 'failed', status: 403 }]);
  }
});

it('ends the inspections of a property that refuses a dozen before any other answer, one after the other', async () => {
  const refused = refusal(403, 'PERMISSION_DENIED', 'You do not own this site.');
  const given = await google(({ number }) => (number === 5 ? BROKEN : refused));
  const ask = (url: string) => inspect(given.client, { ...given.call, url });
  const ended = await Promise.allSettled([...URLS, ...URLS].map(ask));
  expect(ended.filter(({ status }) => status === 'rejected')).toHaveLength(13);
  await expect(ask('https://www.example.com/')).rejects.toMatchObject({ kind: 'closed' });
  expect(given.calls).toHaveLength(12 + 1);
  // Between any two, but for the broken answer.
  expect(given.clock.slept.filter((ms) => ms === 5000).length).toBeGreaterThan(10);
});

it.each([
  ['first_incomplete_date', '2025-02-27'],
  ['firstIncompleteDate', '2025-02-27'],
  ['nothing', '2025-02-26'],
])('days may change from the one on that Google names as %s, else the last three in California', async (name, date) => {
  const given = await google(() => ({ body: { metadata: { [name]: '2025-02-27' } } }));
  const asked = { ...given.call, type: 'web', since: '2025-02-01' } as const;
  expect(await searchTotals(given.client, asked)).toMatchObject({ firstPreliminary: date });
});
