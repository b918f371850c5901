import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { UsageError } from '../../../src/base/exit.js';
import { listTableFiles } from '../../../src/warehouse/log/folder/layout.js';
import { prepareWarehouse } from '../../../src/warehouse/log/folder/prepare.js';
import { once, testAtLength } from '../../given/at-length.js';
import { run } from '../../given/cli.js';
import { temporaryFolder } from '../../given/folder.js';
import { givenWarehouse, indexed, out } from './given.js';

const A = 'https://shop.example/a';
const B = 'https://shop.example/b';

const shop = givenWarehouse([
  { at: '2025-03-01T02:00:00Z', lists: { shop: [indexed(A), indexed(B)] } },
  { at: '2025-03-02T02:00:00Z', lists: { shop: [indexed(A), out(B)] } },
]);

async function report(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(['report', ...args]);
  if (code !== 0) throw new UsageError(stderr.replace('indexhouse: ', '').trimEnd());
  return stdout;
}

describe('indexhouse report', () => {
  once('writes report.html into the working directory, says so with the headline, and ends by itself', async () => {
    const cwd = temporaryFolder();
    const { code, stdout, stderr } = await run(['report', '--warehouse', shop.path], { cwd });
    expect([code, stderr]).toEqual([0, '']);
    expect(readdirSync(cwd)).toEqual(['report.html']);
    const page = readFileSync(join(cwd, 'report.html'), 'utf8');
    expect(page).toMatch(/^<!doctype html>[\s\S]*<\/html>\n$/);
    expect(page.match(/<table class="heat">/g)).toHaveLength(1);
    expect(stdout).toMatch(
      /\n\n1 of 2 pages is indexed \(50\.0%\), 1 fewer than on Mar.1\. 1 page fell out of the index\.\n/,
    );
    expect(stdout).toMatch(/^Last night needs attention: 1 of 1 website \(1 old snapshot\)(; 2 copies behind)?\.\n\n/);
    const mail = await report('--warehouse', shop.path, '--format', 'mail', '--out', '-');
    expect(mail).toMatch(
      /<body[^>]*>\n<p><b>Last night needs attention: 1 of 1 website \(1 old snapshot\)(; 2 copies behind)?\.<.b><.p>/,
    );
    expect(stdout).toContain('Report for 2025-02-24 to 2025-03-02 (7 days): report.html');
  });

  once('says to a program where it is and what it says; --brief writes the first page alone', async () => {
    const file = join(temporaryFolder(), 'r.html');
    const printed: unknown = JSON.parse(await report('--warehouse', shop.path, '--out', file, '--json', '--brief'));
    expect(printed).toMatchObject({
      file,
      total: { indexed: { now: 1, before: 2 }, fell_out: { now: 1 } },
      websites: [{ website_id: 'shop', pages: { now: 2, before: 2 } }],
    });
    const brief = readFileSync(file, 'utf8');
    expect(brief).toContain('What to look at first');
    expect(brief).not.toContain('Appendix');
    await expect(report('--warehouse', shop.path, '--out', '-', '--json')).rejects.toThrow(UsageError);
  });

  once('begins with the story, in a mail without charts, too', async () => {
    const mail = await report('--warehouse', shop.path, '--out', '-', '--format', 'mail');
    expect(mail).toContain('1 of 2 pages is indexed (50.0%), 1 fewer than on Mar');
    expect(mail).toMatch(/Crawled - currently not indexed<\/td><td [^>]*>1<\/td><td [^>]*>\+1</);
    expect(mail).not.toMatch(/<svg|<style|class=/);
  });

  testAtLength('writes over nothing but a report and an empty file, and leaves nothing behind', async () => {
    const folder = temporaryFolder();
    const page = '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>Something else</title>\n';
    mkdirSync(join(folder, 'taken'));
    writeFileSync(join(folder, 'page.html'), page);
    for (const [out, reason] of [
      ['taken', /is not a file/],
      ['missing/r.html', /does not exist/],
      ['page.html', /exists and is not an indexhouse report: choose another name, or delete it first/],
    ] as const) {
      await expect(report('--warehouse', shop.path, '--out', join(folder, out))).rejects.toThrow(reason);
    }
    expect(readFileSync(join(folder, 'page.html'), 'utf8')).toBe(page);
    expect(readdirSync(folder)).toEqual(['page.html', 'taken']);
    const out = join(folder, 'empty.html');
    writeFileSync(out, '');
    // The second time over its own report.
    for (const _ of [1, 2]) await report('--warehouse', shop.path, '--out', out);
    expect(readFileSync(out, 'utf8')).toContain('<meta name="generator" content="indexhouse ');
  });

  testAtLength('touches no file of the warehouse, by whatever name it goes there', async () => {
    const linked = join(temporaryFolder(), 'linked');
    symlinkSync(shop.path, linked);
    const [marker = ''] = await listTableFiles(shop.path, 'snapshots');
    const before = readFileSync(marker);
    for (const out of [marker, marker.replace(shop.path, linked), join(linked, 'new.html')]) {
      await expect(report('--warehouse', shop.path, '--out', out)).rejects.toThrow(
        new UsageError(`${out} is inside the warehouse ${shop.path}: choose a path outside of it`),
      );
    }
    expect(readFileSync(marker).equals(before)).toBe(true);
    expect(existsSync(join(shop.path, 'new.html'))).toBe(false);
    // Beside one that is named by a link it goes.
    await report('--warehouse', linked, '--out', join(temporaryFolder(), 'r.html'));
  });

  testAtLength('says what to do where there is no snapshot yet', async () => {
    const folder = temporaryFolder();
    const empty = join(folder, 'warehouse');
    await prepareWarehouse(empty, 'UTC');
    const out = join(folder, 'r.html');
    await expect(report('--warehouse', empty, '--out', out)).rejects.toThrow(/no snapshot yet: `indexhouse sync`/);
    await expect(report('--warehouse', join(folder, 'none'), '--out', out)).rejects.toThrow(/none/);
    expect(existsSync(out)).toBe(false);
  });
});
