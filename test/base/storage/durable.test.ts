import fs, { readFileSync, statSync } from 'node:fs';
import fsp from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { AppendFile, replaceDatabase, writeDurably } from '../../../src/base/storage/durable.js';
import { diskOf } from '../../../src/base/storage/free-disk.js';
import { temporaryFolder } from '../../given/folder.js';
import { givenNights } from '../../given/nights.js';

/** What this process asked the file system for, in order, such as `sync /a` and `rename /b` (to that name). */
let asked: string[] = [];
/** Files that were renamed although some of their bytes had not been synced. */
let unsynced: string[] = [];

beforeEach(async () => {
  [asked, unsynced] = [[], []];
  const synced = new Map<string, number>();
  const { open, rename, mkdir } = fsp;
  vi.spyOn(fsp, 'open').mockImplementation(async (path, ...more) => {
    const handle = await open(path, ...more);
    const { sync } = handle;
    handle.sync = async () => {
      await sync.call(handle);
      synced.set(String(path), statSync(path).mtimeMs);
      asked.push(`sync ${path}`);
    };
    return handle;
  });
  vi.spyOn(fsp, 'rename').mockImplementation(async (from, to) => {
    if (synced.get(String(from)) !== statSync(from).mtimeMs) unsynced.push(String(to));
    await rename(from, to);
    asked.push(`rename ${to}`);
  });
  vi.spyOn(fsp, 'mkdir').mockImplementation(async (path, ...more) => {
    const made = await mkdir(path, ...more);
    asked.push(`mkdir ${path}`);
    return made;
  });
  vi.spyOn(fs, 'fsync');
  vi.spyOn(fs, 'fsyncSync');
  syncBuiltinESMExports();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

/** The folders whose new names a power loss could still take back when `asked` had come so far. */
function unsafeFolders(end = asked.length): string[] {
  const changed = new Set<string>();
  for (const what of asked.slice(0, end)) {
    const path = what.slice(what.indexOf(' ') + 1);
    if (what.startsWith('sync')) changed.delete(path);
    else changed.add(dirname(path));
  }
  return [...changed];
}

test('the files of a night are on disk before its marker, and the marker before the night ends', async () => {
  const nights = await givenNights();
  await nights.night({ list: { a: { index_summary: 'Indexed' } } });
  const marker = asked.findIndex((what) => /^rename .*\/snapshots\//.test(what));
  const isOwn = (path: string) => path.startsWith(nights.warehouse);
  const isOfTables = (folder: string) => /^(\/(parquet|state)\b.*)?$/.test(folder.slice(nights.warehouse.length));
  expect(asked.slice(0, marker).filter((what) => what.startsWith('rename')).length).toBeGreaterThan(5);
  expect([unsafeFolders(marker), unsafeFolders()].flat().filter(isOwn).filter(isOfTables)).toEqual([]);
  expect(unsynced.filter(isOwn)).toEqual([]);
});

test('what replaces a file is on disk before it takes its name', async () => {
  const database = join(temporaryFolder(), 'database');
  await writeDurably(`${database}.new`, 'text');
  await replaceDatabase(`${database}.new`, database);
  expect([unsynced, unsafeFolders()]).toEqual([[], []]);
});

test('what is appended is on disk after a second, and when the file is closed', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const path = join(temporaryFolder(), 'journal');
  const file = new AppendFile(path, 0);
  for (const text of ['a', 'b']) {
    vi.mocked(fs.fsync).mockClear();
    await file.append(text);
    vi.advanceTimersByTime(1000);
    expect(fs.fsync).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(5000);
    expect(fs.fsync).toHaveBeenCalledTimes(1);
  }
  await file.append('c');
  file.close();
  expect(fs.fsyncSync).toHaveBeenCalledTimes(1);
  expect(readFileSync(path, 'utf8')).toBe('abc');
});

test.each([
  [1e12, 1e9],
  [5e9, 5e8],
])('of a disk of %i bytes, %i are left to others', async (bytes, reserve) => {
  const disk = await fsp.statfs('/');
  vi.spyOn(fsp, 'statfs').mockResolvedValue({ ...disk, bavail: 1, blocks: bytes / 500, bsize: 500 });
  syncBuiltinESMExports();
  expect(await diskOf(join(temporaryFolder(), 'not', 'yet'))).toEqual({ free: 500, reserve });
});
