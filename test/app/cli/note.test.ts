import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { listTableFiles } from '../../../src/warehouse/log/folder/layout.js';
import { RunLock } from '../../../src/warehouse/log/lock.js';
import { run } from '../../given/cli.js';
import { rewrite } from '../../given/tamper.js';
import { buildWarehouse, sharedWarehouse } from '../../given/warehouse.js';
import { configOf, given, HOSTILE, nights } from './given-notes.js';

const built = sharedWarehouse(() => buildWarehouse(nights.slice(-2)));

describe('a note', () => {
  test('is written while another process has the lock, whose end the copies wait for', async () => {
    const { command, note, warehouse } = given(built.path);
    const lock = await RunLock.take(warehouse, 'sync');
    const { note_id, followers } = await note('2025-03-08', 'A mistake');
    expect(followers).toBeNull();
    await note('2025-03-09', HOSTILE, '--website', 'other');
    await note('--remove', note_id);
    lock.release();
    expect(existsSync(join(warehouse, 'indexhouse.duckdb'))).toBe(false);
    expect(JSON.parse((await command('note', '--list', '--json')).stdout)).toMatchObject([
      { note_date: '2025-03-09', note: HOSTILE, directory: null, websites: ['other'] },
    ]);
    const [file = ''] = await listTableFiles(warehouse, 'note_log', { websiteId: 'other' });
    await rewrite(file, "select * replace ('nobody' as website_id) from self");
    expect((await command('status')).stdout).toContain(file);
  });

  test.each([
    ['a date that is none', ['2025-02-30', 'x'], 'It must be a date such as 2026-11-01.'],
    ['a text that is empty', ['2025-03-09', ' '], 'the note is empty'],
    ['a text that is too long', ['2025-03-09', 'x'.repeat(501)], 'the note has 501 characters'],
    ['control characters', ['2025-03-09', 'a\u001b[31m'], 'the note has control characters'],
    ['a website that is unknown', ['2025-03-09', 'x', '--website', 'nowhere'], 'no website "nowhere"'],
    ['a directory without slashes', ['2025-03-09', 'x', '--directory', 'blog'], 'begin and end it with a slash'],
    ['an id that is unknown', ['--remove', 'abc'], 'no note abc in the warehouse'],
    ['no text', ['2025-03-09'], 'give a date and a text, or --list, or --remove <id>'],
  ])('is refused with %s', async (_, words, message) => {
    const { code, stdout, stderr } = await run(['note', ...words, '--config', configOf(built.path)]);
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)]);
    expect(await listTableFiles(built.path, 'note_log')).toEqual([]);
  });
});
