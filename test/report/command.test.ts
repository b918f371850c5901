import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { EXIT, UsageError } from '../../src/cli/command.js';
import { reportCommand } from '../../src/cli/report.js';
import { prepareWarehouse } from '../../src/warehouse/prepare.js';
import { run } from '../given/cli.js';
import { temporaryFolder } from '../given/folder.js';
import { givenWarehouse, indexed, out } from './given.js';

const A = 'https://shop.example/a';
const B = 'https://shop.example/b';

const shop = givenWarehouse([
  { at: '2025-03-01T02:00:00Z', lists: { shop: [indexed(A), indexed(B)] } },
  { at: '2025-03-02T02:00:00Z', lists: { shop: [indexed(A), out(B)] } },
]);

async function report(...args: string[]): Promise<string> {
  let written = '';
  const stdout = new Writable({
    write: (chunk: Buffer | string, _encoding, done) => {
      written += String(chunk);
      done();
    },
  });
  await reportCommand({ exitCode: EXIT.done }, { stdout }).exitOverride().parseAsync(args, { from: 'user' });
  return written;
}

describe('indexhouse report', () => {
  it('writes report.html into the working directory, says so with the headline, and ends by itself', async () => {
    const cwd = temporaryFolder();
    const { code, stdout, stderr } = await run(['report', '--warehouse', shop.path], { cwd });
    expect([code, stderr]).toEqual([0, '']);
    expect(readdirSync(cwd)).toEqual(['report.html']);
    expect(readFileSync(join(cwd, 'report.html'), 'utf8')).toMatch(/^<!doctype html>[\s\S]*<\/html>\n$/);
    expect(stdout).toMatch(/indexed \(50\.0\s%\) +1 +−1\n/);
    expect(stdout).toContain('The report on 2025-02-24 to 2025-03-02 (7 days) is in report.html');
  });

  it('replaces an earlier report, and tells a program where it is and what it says', async () => {
    const file = join(temporaryFolder(), 'r.html');
    await report('--warehouse', shop.path, '--out', file, '--until', '2025-03-01');
    const told: unknown = JSON.parse(await report('--warehouse', shop.path, '--out', file, '--json'));
    expect(told).toMatchObject({
      file,
      since: '2025-02-24',
      total: { indexed: { now: 1, before: 2 }, deindexed: { now: 1 } },
      websites: [{ website_id: 'shop', pages: { now: 2, before: 2 } }],
    });
    expect(readFileSync(file, 'utf8')).toContain('compared with the listing of 2025-03-01');
  });

  it('writes to stdout, and nothing else then', async () => {
    expect(await report('--warehouse', shop.path, '--out', '-')).toMatch(/^<!doctype html>[\s\S]*<\/html>\n$/);
    await expect(report('--warehouse', shop.path, '--out', '-', '--json')).rejects.toThrow(UsageError);
  });

  it('refuses a folder and a place that is not there, and leaves nothing behind', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'taken'));
    for (const [out, reason] of [
      ['taken', /is no file/],
      ['missing/r.html', /there is no folder/],
    ] as const) {
      await expect(report('--warehouse', shop.path, '--out', join(folder, out))).rejects.toThrow(reason);
    }
    expect(readdirSync(folder)).toEqual(['taken']);
  });

  it('says what to do where there is no snapshot yet', async () => {
    const folder = temporaryFolder();
    const empty = join(folder, 'warehouse');
    await prepareWarehouse(empty, 'UTC', 256e6);
    const out = join(folder, 'r.html');
    await expect(report('--warehouse', empty, '--out', out)).rejects.toThrow(/no snapshot yet: `indexhouse sync`/);
    await expect(report('--warehouse', join(folder, 'none'), '--out', out)).rejects.toThrow(/none/);
    expect(existsSync(out)).toBe(false);
  });
});
