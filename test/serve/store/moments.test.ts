import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type ServedWarehouse, serveWarehouse } from '../../given/served.js';
import type { GivenPage } from '../../given/service.js';
import { buildWarehouse, syncNights } from '../../given/warehouse.js';
import { entryWindow } from '../client.js';

const A = 'https://www.example.com/a';
const B = 'https://www.example.com/b';
const C = 'https://www.example.com/c';
const NOW = Date.parse('2025-03-05T12:00:00Z');

let served: ServedWarehouse;
let warehouse: string;
/** When the warehouse is looked at again. */
let clock = 0;

function page(url: string, summary: string | null, report: GivenPage['report'] = {}): GivenPage {
  const crawl = summary === null ? null : '2025-02-20T06:00:00.000Z';
  const entry = {
    index_summary: summary,
    index_coverage_state: summary && `state ${summary}`,
    last_crawl_time: crawl,
    service_link: `https://app.example/${url.slice(-1)}`,
    searchengine_selected_canonical: summary === 'Indexed' ? url : null,
  };
  return { url, entry, report };
}

const night = (at: string, ...pages: GivenPage[]) => ({ at, lists: { w: pages } });

const NIGHTS = [
  night('2025-03-01T02:00:00Z', page(A, 'Indexed', { page_fetch_status: 'first' }), page(B, null, null)),
  night('2025-03-02T02:00:00Z', page(A, 'Not Indexed', { page_fetch_status: 'second' }), page(B, 'Indexed', null)),
  night('2025-03-03T23:59:00Z', page(A, 'Indexed', { page_fetch_status: 'third' }), page(C, 'Indexed', {})),
];

beforeAll(async () => {
  ({ path: warehouse } = await buildWarehouse(NIGHTS));
  served = await serveWarehouse({ warehouse, now: () => NOW, keys: { k: ['w'] }, clock: () => clock });
});

const get = (path: string) => served.get(path);

async function window(query: string) {
  const answer = await get(`/v1/urls/w?${query}`);
  expect(answer.status).toBe(200);
  return entryWindow.parse(await answer.json());
}

/** Pages by the last letter of their URL, with what the listing said of them. */
async function listed(query: string): Promise<string[]> {
  return (await window(query)).urls.map(({ url, index_summary }) => `${url.slice(-1)} ${index_summary}`);
}

async function reported(url: string, asOf: string): Promise<unknown> {
  const answer = await get(`/v1/url-report?url=${encodeURIComponent(url)}&as_of=${encodeURIComponent(asOf)}`);
  return answer.status === 200 ? await answer.json() : answer.status;
}

describe('a listing as of', () => {
  it.each([
    ['a date without a snapshot', '2025-03-04', ['a Indexed', 'c Indexed']],
    ['the end of a date', '2025-03-02', ['a Not Indexed', 'b Indexed']],
    ['the very moment', '2025-03-02T02:00:00Z', ['a Not Indexed', 'b Indexed']],
    ['just before', '2025-03-02T01:59:59.999Z', ['a Indexed', 'b null']],
    ['a time with an offset', '2025-03-02T03:00:00+01:00', ['a Not Indexed', 'b Indexed']],
  ])('%s is what was known then', async (_, asOf, expected) => {
    expect(await listed(`as_of=${encodeURIComponent(asOf)}`)).toEqual(expected);
  });

  it('before anything was observed is not found, and says so', async () => {
    const answer = await get('/v1/urls/w?as_of=2025-02-28');
    expect([answer.status, await answer.text()]).toEqual([
      404,
      expect.stringContaining('Nothing had been observed of'),
    ]);
  });

  const BAD = ['yesterday', '2025-02-30', '2025-03-02T02:00:00', '2025-03-01&as_of=2025-03-02', ''];
  it.each(BAD)('%j is refused', async (asOf) => {
    expect((await get(`/v1/urls/w?as_of=${asOf}`)).status).toBe(400);
    expect((await get(`/v1/url-report?url=${encodeURIComponent(A)}&as_of=${asOf}`)).status).toBe(400);
  });

  it('counts days to then, and without it to now', async () => {
    const days = async (query: string) => (await window(query)).urls[0]?.days_since_last_crawl;
    expect(await days('as_of=2025-03-02T05:59:59Z')).toBe(9);
    expect(await days('as_of=2025-03-02T06:00:00Z')).toBe(10);
    expect(await days('as_of=2030-01-01')).toBe(13);
  });
});

describe('a report as of', () => {
  it('a moment is the newest that had been fetched then', async () => {
    expect(await reported(A, '2025-03-01')).toMatchObject({ page_fetch_status: 'first', index_summary: 'Indexed' });
    expect(await reported(A, '2025-03-02')).toMatchObject({ page_fetch_status: 'second' });
  });

  it('of a page that was not monitored then, or is not any more, is not found', async () => {
    expect(await reported(C, '2025-03-02')).toBe(404);
    expect(await reported(B, '2025-03-03')).toBe(404);
    expect(await reported(A, '2025-02-01')).toBe(404);
  });

  it('that was never fetched has the fields of the listing, and null for the rest', async () => {
    const report = z.record(z.string(), z.unknown()).parse(await reported(B, '2025-03-02'));
    const known = { index_summary: 'Indexed', index_coverage_state: 'state Indexed', days_since_last_crawl: 10 };
    const own = { searchengine_selected_canonical: B, last_crawl_time: '2025-02-20T06:00:00.000Z' };
    expect(report).toMatchObject({ url: B, ...known, ...own, service_link: 'https://app.example/b' });
    expect(Object.keys(report)).toHaveLength(27);
    expect(Object.values(report).filter((value) => value !== null)).toHaveLength(7);
  });
});

it('an answer says in its headers which state it shows', async () => {
  const report = `/v1/url-report?url=${encodeURIComponent(A)}`;
  const of = async (path: string) => {
    const { headers } = await get(path);
    return [headers.get('x-snapshot-id'), headers.get('x-snapshot-time')];
  };
  const [newest, first] = [await of('/v1/urls/w'), await of('/v1/urls/w?as_of=2025-03-01')];
  expect([newest[1], first[1]]).toEqual(['2025-03-03T23:59:00.000Z', '2025-03-01T02:00:00.000Z']);
  expect([await of(report), await of(`${report}&as_of=2025-03-01`)]).toEqual([newest, first]);
  expect(await of(`/v1/urls/w?snapshot=${first[0]}`)).toEqual(first);
  expect((await get('/v1/urls/w?snapshot=01890000-0000-7000-8000-000000000000')).status).toBe(404);
  expect((await get('/v1/urls/w?snapshot=x')).status).toBe(400);
});

it('a walk sees one snapshot, whatever is committed meanwhile; a new walk sees the newest', async () => {
  const read = async (path: string) => entryWindow.parse(await (await get(path)).json());
  const first = await read('/v1/urls/w?limit=1&as_of=2025-03-04');
  const query = new URLSearchParams((first.pagination.next_page ?? '').split('?')[1]);
  expect(Object.fromEntries(query)).toMatchObject({ skip: '1', limit: '1', as_of: '2025-03-04' });
  await syncNights(warehouse, [night('2025-03-04T03:00:00Z', page(A, 'Gone', null), page(C, 'Gone', null))]);
  clock += 60_000;
  const second = await read(first.pagination.next_page ?? '');
  const seen = [first, second].flatMap(({ urls }) => urls.map((each) => each.index_summary));
  expect(seen).toEqual(['Indexed', 'Indexed']);
  expect((await read('/v1/urls/w?limit=1')).urls[0]?.index_summary).toBe('Gone');
});
