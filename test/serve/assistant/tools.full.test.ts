import type { Client } from '@modelcontextprotocol/client';
import { beforeAll, describe, expect, it } from 'vitest';
import { analyses } from '../../../src/answers/query/catalog.js';
import { buildWarehouse, sharedWarehouse } from '../../given/warehouse.js';
import { asked, call, HOSTILE, NIGHTS } from './given.js';

const built = sharedWarehouse(() => buildWarehouse(NIGHTS));
let client: Client;
beforeAll(async () => {
  client = await asked(built.path);
});

it('every tool says what it is for, with an example, its input and its output, and refuses other parameters', async () => {
  const { tools } = await client.listTools();
  expect(tools.length).toBeGreaterThan(5);
  for (const { name, description, inputSchema, outputSchema, annotations } of tools) {
    expect([name, description]).toEqual([name, expect.stringContaining('Example: {')]);
    expect([name, inputSchema.additionalProperties]).toEqual([name, false]);
    expect([name, outputSchema?.properties]).toEqual([name, expect.objectContaining({ basis: expect.anything() })]);
    expect([name, annotations?.readOnlyHint]).toEqual([name, true]);
    expect([name, (await call(client, name, { foo: 1 })).error]).toEqual([name, expect.stringContaining('foo')]);
  }
});

it('every answer names the newest snapshot of each website, and the age of its reports', async () => {
  const { content, text } = await call(client, 'list_analyses');
  expect(content['basis']).toMatchObject({
    age: { as_of: '2025-03-03T02:00:00.000Z', old: null, why: null },
    websites: [
      { website_id: 'other', snapshots: 2, first_snapshot_date: '2025-03-01', pages: 5 },
      {
        ...{ website_id: 'shop', website_name: 'https://shop.example', snapshots: 3, pages: 61, not_inspected: 0 },
        newest_snapshot: { date: '2025-03-03', begun_at: '2025-03-03T02:00:00.000Z', listing_status: 'complete' },
        report_age_days: { newest: 1, median: 1, oldest: 1 },
      },
    ],
    more_websites: 0,
  });
  expect(text).toContain('Based on 5 snapshots of 2 websites. Reports are 1 to 1 days old.');
});

describe('analyses', () => {
  it('are listed with the names of their parameters, and one in full', async () => {
    const { content } = await call(client, 'list_analyses');
    expect(content['analyses']).toHaveLength(analyses().length);
    expect(content['details']).toBeNull();
    const { content: one } = await call(client, 'list_analyses', { name: 'deindexed_pages' });
    const since = expect.objectContaining({ name: 'since', type: 'date', required: false });
    expect(one['details']).toMatchObject({ grain: 'one row per page', parameters: expect.arrayContaining([since]) });
  });

  it('return a window of their rows, with the number of all and how to get the next', async () => {
    const name = 'deindexed_pages';
    const whole = await call(client, 'run_analysis', { name });
    const parameters = { since: '2025-02-25' };
    expect(whole.content).toMatchObject({ returned: 12, total: 12, next_offset: null, parameters });
    const rows: unknown[] = [];
    for (const [offset, next] of [
      [0, 7],
      [7, null],
    ]) {
      const { content, text } = await call(client, 'run_analysis', { name, limit: 7, offset });
      expect(content).toMatchObject({ total: 12, total_is_exact: true, next_offset: next });
      expect(text.includes('set `offset` to 7')).toBe(next === 7);
      rows.push(...(content['rows'] as unknown[]));
    }
    expect(rows).toEqual(whole.content['rows']);
  });

  it('take parameters as their header has them, and say what is wrong with others', async () => {
    const run = async (name: string, parameters: object) => call(client, 'run_analysis', { name, parameters });
    expect((await run('deindexed_pages', { times: 1, directory: '/blog/' })).content).toMatchObject({ total: 6 });
    expect((await run('page', {})).error).toContain('url is required');
    const long = `https://shop.example/${'a'.repeat(8000)}`;
    expect((await call(client, 'page', { url: long })).error).toContain('Too big');
    expect((await run('indexing_trend', { website: 'shpo' })).error).toContain('Did you mean:\n  shop');
    expect((await run('deindexed_pages', { directory: '/bog/' })).content).toMatchObject({
      total: 0,
      notes: ['No page is below /bog/. Did you mean /blog/?'],
    });
  });
});

it('page is everything of one page: sentences, changes, state and report', async () => {
  const { content } = await call(client, 'page', { url: 'https://shop.example/blog/000' });
  expect(content['rows']).toEqual(
    expect.arrayContaining([
      ['shop', 'index', '2025-03-03', 'Not indexed since Mar 3, 2025: Crawled - currently not indexed.'],
      ['shop', 'history', '2025-03-03', expect.stringContaining('left the index')],
    ]),
  );
  const report = { index_summary: 'Not Indexed', indexing_allowed: 'Yes' };
  const state = { index_summary: 'Not Indexed', report_fetched_at: '2025-03-03T02:00:00.000Z' };
  expect(content['pages']).toMatchObject([{ website_id: 'shop', state, report }]);
});

it('what websites chose stands in structured content and JSON alone', async () => {
  for (const [name, given] of [
    ['run_analysis', { name: 'deindexed_pages', parameters: { url_contains: 'IGNORE' } }],
    ['page', { url: HOSTILE }],
  ] as const) {
    const { content, text, whole } = await call(client, name, given);
    expect(JSON.stringify(content)).toContain(HOSTILE);
    expect(JSON.parse(whole ?? '')).toEqual(content);
    expect(text).not.toContain('IGNORE');
  }
  const { parts } = await call(client, 'page', { url: `${HOSTILE}-not` });
  expect(JSON.parse(parts[0]?.text ?? '')).toEqual({ error: expect.stringContaining(HOSTILE) });
});

it('resources are the dictionary and the glossary', async () => {
  const { resources } = await client.listResources();
  const texts = await Promise.all(resources.map(async ({ uri }) => (await client.readResource({ uri })).contents));
  expect(texts.flat().map((one) => 'text' in one && one.text.slice(0, 10))).toEqual(['# Data dic', '# Glossary']);
});
