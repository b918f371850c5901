import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { run } from '../given/cli.js';
import { temporaryFolder } from '../given/folder.js';

async function init(args: string[], env: Record<string, string> = {}, folder?: string, typed: string[] = []) {
  const cwd = folder ?? temporaryFolder();
  const { code, stdout, stderr } = await run(['init', ...args], { cwd, env, ...(typed.length > 0 ? { typed } : {}) });
  const asked = stdout.match(/Enter to skip|Enter a whole number/g)?.length ?? 0;
  return { cwd, code, printed: stdout, stderr, asked };
}

describe('indexhouse init', () => {
  it('writes the file and says what comes next', async () => {
    const { cwd, printed } = await init([]);
    const file = join(cwd, 'indexhouse.yaml');
    expect(await readFile(file, 'utf8')).toContain('base_url:');
    expect(printed).toContain(`Wrote ${file}\n`);
    expect(printed).toContain('export INDEXHOUSE_TOKEN=…');
    expect(printed).toContain('websites in ');
    expect(printed).toMatch(/indexhouse doctor\n/);
  });

  it('takes --config, and repeats it in the next steps', async () => {
    const { cwd, printed } = await init(['--config', "my 'own.yaml"]);
    expect(await readFile(join(cwd, "my 'own.yaml"), 'utf8')).toContain('base_url:');
    expect(printed).toContain(`indexhouse doctor --config 'my '\\''own.yaml'`);
  });

  it('takes INDEXHOUSE_CONFIG, and asks for no token that is set', async () => {
    const { cwd, printed } = await init([], { INDEXHOUSE_CONFIG: 'x.yaml', INDEXHOUSE_TOKEN: 't-1' });
    expect(printed).toContain(join(cwd, 'x.yaml'));
    expect(printed).not.toMatch(/export|t-1/);
  });

  it('prints one JSON document with --json', async () => {
    const { cwd, printed } = await init(['--json']);
    expect(JSON.parse(printed)).toMatchObject({ file: join(cwd, 'indexhouse.yaml'), next: expect.any(Array) });
  });

  it('finds its flags before its name too', async () => {
    const cwd = temporaryFolder();
    expect((await run(['--config', 'a.yaml', 'init'], { cwd })).code).toBe(0);
    expect(await readFile(join(cwd, 'a.yaml'), 'utf8')).toContain('base_url:');
  });

  it.each([
    ['the flag', ['--pages', '100000'], [], 0],
    ['an answer', [], ['100,000'], 1],
    ['a second answer', [], ['many', '100 000'], 2],
  ])('says what so many pages cost, by %s', async (_, args, answers, questions) => {
    const { printed, asked } = await init(args, {}, undefined, answers);
    expect(printed).toContain('100,000 pages at 60 requests a minute: 101 requests (1m 41s) for the listing,');
    expect(printed).toContain('See what it costs:  indexhouse plan\n');
    expect(asked).toBe(questions);
  });

  it('says nothing of costs where the answer is none, twice no number, or not asked for', async () => {
    for (const answers of [[''], ['x', '-5'], []])
      expect((await init([], {}, undefined, answers)).printed).not.toMatch(/ pages at/);
    const json = await init(['--json'], {}, undefined, ['5']);
    expect([json.asked, JSON.parse(json.printed)]).toMatchObject([0, { next: expect.any(Array) }]);
    const flagged = await init(['--json', '--pages', '5'], { INDEXHOUSE_API_REQUESTS_PER_MINUTE: '120' });
    expect(JSON.parse(flagged.printed).sentence).toMatch(/^5 pages at 120 requests a minute: /);
  });

  it('never overwrites', async () => {
    const { cwd } = await init([]);
    expect(await init([], {}, cwd)).toMatchObject({ code: 2, stderr: expect.stringContaining('exists') });
  });
});
