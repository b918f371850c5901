import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { Reader } from '../../../src/answers/query/reader.js';
import { withEngine } from '../../../src/base/storage/engine.js';
import { startBucket } from '../../given/bucket.js';
import { temporaryFolder } from '../../given/folder.js';
import { buildWarehouse, sharedWarehouse } from '../../given/warehouse.js';
import { SHOP_TOKEN, startDashboard } from '../../serve/dashboard/given.js';
import { Visitor } from '../../serve/dashboard/visitor.js';
import { ESCAPED, given, HOSTILE, nights } from './given-notes.js';

const built = sharedWarehouse(() => buildWarehouse(nights));

/** What each face says of the notes of `shop`. */
async function faces({ warehouse, command }: ReturnType<typeof given>) {
  const folder = temporaryFolder();
  const brief = await command('report', '--brief', '--website', 'shop', '--out', '-');
  const events = await command('query', 'events', 'website=shop', '--json');
  const dashboard = await startDashboard(warehouse);
  const visitor = new Visitor(dashboard.origin);
  await visitor.signIn(SHOP_TOKEN);
  const overview = await visitor.get('/dashboard/websites/shop');
  const sql = `select note from notes where website_id = 'shop'`;
  const copies: unknown[] = [];
  for (const file of ['indexhouse.duckdb', 'analytics.duckdb']) {
    const options = { file: join(warehouse, file), readOnly: true, memoryLimit: 128e6, temporary: folder };
    copies.push(await withEngine(options, (engine) => engine.rows(z.object({ note: z.string() }), sql)));
  }
  return { brief: brief.stdout, overview: overview.text, events: JSON.parse(events.stdout).at(-1).notes, copies };
}

test('a note is seen on all faces, escaped, until it is removed', async () => {
  const made = given(built.path);
  const { command, note } = made;
  const { note_id } = await note('2025-03-07', HOSTILE, '--directory', '/blog/');
  await note('2025-03-09', 'Only of the other', '--website', 'other');
  const seen = await faces(made);
  const copies = [[{ note: HOSTILE }], [{ note: HOSTILE }]];
  expect(seen).toMatchObject({ events: `Mar 7: “${HOSTILE}”`, copies });
  for (const page of [seen.brief, seen.overview]) {
    expect(page).toContain(`· note of Mar 7: “${ESCAPED}”.`);
    expect(page).toContain(`<li><b>A</b> <span class="date">2025-03-07</span> ${ESCAPED} (/blog/)</li>`);
    expect(page).toMatch(/<text[^>]*>A<\/text>/);
    expect(page).toContain(`40 of 40 pages indexed (100.0%), ±0 since Mar\u00a06. Note: ${ESCAPED}"`);
    expect(page).not.toMatch(/<script>|Only of the other/);
  }
  await note('--remove', note_id);
  const gone = await faces(made);
  expect(gone).toMatchObject({ events: null, copies: [[], []] });
  expect(JSON.stringify(gone)).not.toContain('alert(1)');
  expect(await command('verify')).toMatchObject({ code: 0 });
});

test('a note is in the bucket, is seen only by its websites, and removed with them', async () => {
  const server = await startBucket();
  const { command, note, warehouse } = given(built.path, { bucket: server.url });
  await note('2025-03-09', 'For all');
  await note('2025-03-10', 'For other', '--website', 'other');
  const ofOther = () => [...server.objects.keys()].filter((key) => /note_log.*other/.test(key)).length;
  expect(ofOther()).toBe(2);
  const own = await Reader.open({ warehouse, memoryLimit: 128e6, websites: ['shop'] });
  const row = z.object({ website_id: z.string(), note: z.string() });
  const notes = 'select website_id, note from notes order by all';
  expect(await own.rows(row, notes)).toEqual([{ website_id: 'shop', note: 'For all' }]);
  own.close();
  expect(await command('remove', '--website', 'other', '--yes')).toMatchObject({ code: 0 });
  expect(ofOther()).toBe(0);
  expect(await command('verify')).toMatchObject({ code: 0 });
});
