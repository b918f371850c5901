import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { readXlsx } from 'hucre/xlsx';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { Reader } from '../../../src/answers/query/reader.js';
import { withEngine } from '../../../src/base/storage/engine.js';
import { listTableFiles } from '../../../src/warehouse/log/folder/layout.js';
import { RunLock } from '../../../src/warehouse/log/lock.js';
import { atLength, casesAtLength, testAtLength } from '../../given/at-length.js';
import { startBucket } from '../../given/bucket.js';
import { run } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { copyOf, temporaryFolder } from '../../given/folder.js';
import { holdOpen } from '../../given/holder.js';
import { dyingAt } from '../../given/left-behind.js';
import { rewrite } from '../../given/tamper.js';
import { buildWarehouse, type Night, sharedWarehouse } from '../../given/warehouse.js';
import { asked, call } from '../../serve/assistant/given.js';
import { SHOP_TOKEN, startDashboard } from '../../serve/dashboard/given.js';
import { Visitor } from '../../serve/dashboard/visitor.js';
import { removeNow } from '../../warehouse/removal/removed.js';

const HOSTILE = `=1+"'><script>alert(1)</script>{b}`;
const ESCAPED = '=1+&quot;&#39;&gt;&lt;script&gt;alert(1)&lt;/script&gt;{b}';
const PAGES = 40;
const FALLEN = 20;
const NIGHTS = 9;

const INDEXED = { index_summary: 'Indexed', index_coverage_state: 'Submitted and indexed' };
const OUT = { index_summary: 'Not Indexed', index_coverage_state: 'Crawled - currently not indexed' };
const pages = (site: string, fallen: number) =>
  Array.from({ length: PAGES }, (_, at) => ({
    url: `https://${site}.example/blog/${at}`,
    entry: at < fallen ? OUT : INDEXED,
  }));

/** Two websites from 2025-03-01 on; half of each falls out on the last night, 2025-03-09. */
const nights = Array.from({ length: NIGHTS }, (_, at): Night => {
  const fallen = at === NIGHTS - 1 ? FALLEN : 0;
  const lists = { shop: pages('shop', fallen), other: pages('other', fallen) };
  return { at: new Date(Date.UTC(2025, 2, 1 + at, 2)).toISOString(), lists, sections: { reports: { max_per_run: 0 } } };
});
const addedSchema = z.object({ note_id: z.string(), listed: z.boolean(), followers: z.array(z.unknown()).nullable() });

const built = sharedWarehouse(() => buildWarehouse(atLength(nights.slice(-2), nights)));

/** A warehouse of its own, with a configuration beside it. */
function given(sections = {}) {
  const warehouse = copyOf(built.path);
  const config = writeConfig(temporaryFolder(), { sections: { warehouse: { path: warehouse }, ...sections } });
  const command = (...words: string[]) => run([...words, '--config', config, '--log-level', 'error']);
  const note = async (...words: string[]) => {
    const { code, stdout, stderr } = await command('note', ...words, '--json');
    expect([code, stderr]).toEqual([0, '']);
    return addedSchema.parse(JSON.parse(stdout));
  };
  return { warehouse, config, command, note };
}

/** What each face says of the notes of `shop`. */
async function faces({ warehouse, command }: ReturnType<typeof given>) {
  const folder = temporaryFolder();
  const [html, xlsx] = [join(folder, 'report.html'), join(folder, 'events.xlsx')];
  const words = ['--website', 'shop', '--out', html];
  const { stdout: story } = await command('report', ...words);
  const brief = await command('report', '--brief', ...words.slice(0, 2), '--out', '-');
  const events = JSON.parse((await command('query', 'events', 'website=shop', '--json')).stdout);
  expect(await command('query', 'events', 'website=shop', '--out', xlsx)).toMatchObject({ code: 0 });
  const { rows: [heads = [], cells = []] = [] } = (await readXlsx(readFileSync(xlsx))).sheets.at(-1) ?? {};
  const dashboard = await startDashboard(warehouse);
  const visitor = new Visitor(dashboard.origin);
  await visitor.signIn(SHOP_TOKEN);
  const overview = await visitor.get('/dashboard/websites/shop');
  const client = await asked(warehouse);
  const sql = `select note from notes where website_id = 'shop'`;
  const assistant = [
    JSON.stringify(
      (await call(client, 'run_analysis', { name: 'events', parameters: { website: 'shop' } })).content['rows'],
    ),
    JSON.stringify((await call(client, 'query_sql', { sql })).content['rows']),
  ];
  const copies: unknown[] = [];
  for (const file of ['indexhouse.duckdb', 'analytics.duckdb']) {
    const options = { file: join(warehouse, file), readOnly: true, memoryLimit: 128e6, temporary: folder };
    copies.push(await withEngine(options, (engine) => engine.rows(z.object({ note: z.string() }), sql)));
  }
  return {
    story,
    report: readFileSync(html, 'utf8'),
    brief: brief.stdout,
    overview: overview.text,
    events: events[0].notes,
    excel: cells[heads.indexOf('notes')],
    assistant,
    copies,
  };
}

describe('a note', () => {
  testAtLength('is seen on all faces, escaped, until it is removed', async () => {
    const server = await startBucket();
    const made = given({ bucket: server.url });
    const { command, note } = made;
    const { note_id } = await note('2025-03-07', HOSTILE, '--directory', '/blog/');
    await note('2025-03-09', 'Only of the other', '--website', 'other');
    const said = `Mar 7: “${HOSTILE}”`;
    const seen = await faces(made);
    expect(seen).toMatchObject({ events: said, excel: said, copies: [[{ note: HOSTILE }], [{ note: HOSTILE }]] });
    expect(seen.story).toContain(`· note of ${said}.`);
    for (const page of [seen.report, seen.brief, seen.overview]) {
      expect(page).toContain(`· note of Mar 7: “${ESCAPED}”.`);
      expect(page).toContain(`<li><b>A</b> <span class="date">2025-03-07</span> ${ESCAPED} (/blog/)</li>`);
      expect(page).toMatch(/<text[^>]*>A<\/text>/);
      expect(page).toContain(`40 of 40 pages indexed (100.0%), ±0 since Mar\u00a06. Note: ${ESCAPED}"`);
      expect(page).not.toContain('<script>');
      expect(page).not.toContain('Only of the other');
    }
    expect(seen.assistant).toEqual([expect.stringContaining(JSON.stringify(said)), JSON.stringify([[HOSTILE]])]);
    expect(await command('verify')).toMatchObject({ code: 0, stdout: expect.stringContaining('no differences') });
    expect([...server.objects.keys()].filter((key) => key.startsWith('parquet/note_log/'))).not.toEqual([]);

    await note('--remove', note_id);
    const gone = await faces(made);
    expect(gone).toMatchObject({ events: null, excel: null, copies: [[], []] });
    expect(JSON.stringify(gone)).not.toContain('alert(1)');
    expect(await command('verify')).toMatchObject({ code: 0 });
  });

  testAtLength('is restored from bucket and backup, seen only by its websites, and removed with them', async () => {
    const server = await startBucket();
    const { command, note, warehouse } = given({ bucket: server.url });
    await note('2025-03-09', 'For all');
    await note('2025-03-10', 'For other', '--website', 'other');
    const notes = `select website_id, note from notes order by all`;
    const all = [
      ['other', 'For all'],
      ['other', 'For other'],
      ['shop', 'For all'],
    ];
    const folder = temporaryFolder();
    const [restored, backup] = [join(folder, 'restored'), join(folder, 'backup')];
    const bucket = writeConfig(folder, { sections: { bucket: server.url, warehouse: { path: restored } } });
    expect(await run(['restore', '--config', bucket])).toMatchObject({ code: 0 });
    expect(await command('backup', backup)).toMatchObject({ code: 0 });
    for (const copy of [restored, backup]) {
      const { stdout } = await run(['query', '--sql', notes, '--json', '--warehouse', copy, '--log-level', 'error']);
      expect(JSON.parse(stdout)).toEqual(all.map(([website_id, text]) => ({ website_id, note: text })));
    }
    const own = await Reader.open({ warehouse, memoryLimit: 128e6, websites: ['shop'] });
    const row = z.object({ website_id: z.string(), note: z.string() });
    expect(await own.rows(row, notes)).toEqual([{ website_id: 'shop', note: 'For all' }]);
    own.close();

    expect(await command('remove', '--website', 'other', '--yes')).toMatchObject({ code: 0 });
    expect(await listTableFiles(warehouse, 'note_log')).toHaveLength(1);
    expect([...server.objects.keys()].filter((key) => /note_log.*other/.test(key))).toEqual([]);
    expect(await command('verify')).toMatchObject({ code: 0 });
  });

  test('is written while another process has the lock, whose end the copies wait for', async () => {
    const { command, note, warehouse } = given();
    const lock = await RunLock.take(warehouse, 'sync');
    expect((await note('2025-03-09', 'Relaunch')).followers).toBeNull();
    lock.release();
    expect(existsSync(join(warehouse, 'indexhouse.duckdb'))).toBe(false);
    expect(JSON.parse((await command('note', '--list', '--json')).stdout)).toMatchObject([
      { note_date: '2025-03-09', note: 'Relaunch', directory: null, websites: ['other', 'shop'], names: null },
    ]);
    const [file = ''] = await listTableFiles(warehouse, 'note_log');
    await rewrite(file, "select * replace ('nobody' as website_id) from self");
    expect((await command('status')).stdout).toContain(file);
    writeFileSync(file, 'garbage');
    expect(await command('verify')).toMatchObject({ code: 1, stdout: expect.stringContaining(file) });
  });

  test('names the copy that lacks it because another process has that open', async () => {
    const { config, note, warehouse } = given();
    await note('2025-03-09', 'One');
    const { pid } = await holdOpen(join(warehouse, 'indexhouse.duckdb'), 'READ_ONLY');
    const { code, stderr } = await run(['note', '2025-03-09', 'Two', '--config', config, '--log-level', 'warn']);
    expect([code, stderr]).toEqual([0, expect.stringMatching(`process ${pid} .*so it lacks the newest notes or runs`)]);
  });

  test('is written after a removal that ran while it read the warehouse', async () => {
    const { command, warehouse, note } = given();
    const lock = await RunLock.take(warehouse, 'sync');
    await note('2025-03-09', 'Before');
    lock.release();
    await dyingAt('decided the removal', () => removeNow(warehouse, 'other'));
    // What a file is that is removed while it is read.
    const [gone = ''] = await listTableFiles(warehouse, 'note_log', { websiteId: 'other' });
    writeFileSync(gone, '');
    const noted = command('note', '2025-03-09', 'After', '--json');
    await setTimeout(500);
    // Whoever takes the lock finishes the removal.
    (await RunLock.take(warehouse, 'sync')).release();
    const { code, stdout, stderr } = await noted;
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject({ websites: ['shop'], note: 'After' });
  });

  const REFUSED: [what: string, words: string[], message: string][] = [
    ['a date that is none', ['2025-02-30', 'x'], 'It must be a date such as 2026-11-01.'],
    ['a text that is empty', ['2025-03-09', ' '], 'the note is empty'],
    ['a text that is too long', ['2025-03-09', 'x'.repeat(501)], 'the note has 501 characters'],
    ['control characters', ['2025-03-09', 'a\u001b[31m'], 'the note has control characters'],
    ['a website that is unknown', ['2025-03-09', 'x', '--website', 'nowhere'], 'no website "nowhere"'],
    ['a directory without slashes', ['2025-03-09', 'x', '--directory', 'blog'], 'begin and end it with a slash'],
    ['an id that is unknown', ['--remove', 'abc'], 'no note abc in the warehouse'],
    ['no text', ['2025-03-09'], 'give a date and a text, or --list, or --remove <id>'],
  ];
  test.each(casesAtLength(REFUSED, 'control characters', 'an id that is unknown'))(
    'is refused with %s',
    async (_, words, message) => {
      const { command, warehouse } = given();
      const { code, stdout, stderr } = await command('note', ...words);
      expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)]);
      expect(await listTableFiles(warehouse, 'note_log')).toEqual([]);
    },
  );
});
