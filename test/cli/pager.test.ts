import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { run } from '../given/cli.js';
import { temporaryFolder } from '../given/folder.js';

describe('a pager', () => {
  let file: string;
  beforeEach(() => {
    file = join(temporaryFolder(), 'paged');
  });

  /** What a terminal of 20 lines shows of the list of analyses, which is longer, and what the pager got. */
  async function list(env: Record<string, string>, { rows = 20, args = [] as string[] } = {}) {
    const { code, stdout, stderr } = await run(['query', ...args], { columns: 100, rows, env });
    return { code, stderr, printed: stdout, paged: existsSync(file) ? readFileSync(file, 'utf8') : null };
  }
  const keep = () => ({ PAGER: `printenv LESS > ${file}; cat >> ${file}` });

  it('gets what does not fit the terminal, set up as by git', async () => {
    const { printed, paged, code } = await list(keep());
    expect([code, printed]).toEqual([0, '']);
    expect(paged).toMatch(/^FRX\nWhat fell out\?\n[\s\S]*Your SQL: .*\n$/);
    expect((await list({ ...keep(), LESS: 'S' })).paged).toMatch(/^S\n/);
  });

  it('does not get what fits, nor where it is not wanted', async () => {
    const whole = (await list(keep(), { rows: 500 })).printed;
    expect(whole).toMatch(/^What fell out\?\n[\s\S]*Your SQL: /);
    expect(await list(keep(), { args: ['--no-pager'] })).toMatchObject({ printed: whole, paged: null });
    for (const PAGER of ['', 'cat']) expect(await list({ PAGER })).toMatchObject({ printed: whole, paged: null });
    expect(await list({ ...keep(), TERM: 'dumb' })).toMatchObject({ printed: whole, paged: null });
    const piped = await run(['query'], { env: keep() });
    expect([piped.stdout, existsSync(file)]).toEqual([whole, false]);
  });

  it('may end before it has read everything', async () => {
    expect(await list({ PAGER: 'exec true' })).toEqual({ code: 0, stderr: '', printed: '', paged: null });
  });

  it('that cannot be started leaves the text to the terminal', async () => {
    expect((await list({ PAGER: '/nowhere/pager 2> /dev/null' })).printed).toMatch(/^What fell out\?\n/);
    expect((await list({ PATH: '/nowhere' })).printed).toMatch(/^What fell out\?\n/);
  });
});
