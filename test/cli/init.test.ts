import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { initCommand } from '../../src/cli/init.js';
import { ConfigError } from '../../src/config/errors.js';

async function run(args: string[], env: Record<string, string> = {}, folder?: string, answers: string[] = []) {
  const cwd = folder ?? (await mkdtemp(join(tmpdir(), 'indexhouse-init-')));
  let printed = '';
  const stdout = { write: (text: string) => (printed += text) };
  const asked: string[] = [];
  const ask = async (question: string) => {
    asked.push(question);
    return answers[asked.length - 1] ?? null;
  };
  await initCommand({ stdout, env, cwd: () => cwd, ask }).parseAsync(args, { from: 'user' });
  return { cwd, printed, asked: asked.length };
}

describe('indexhouse init', () => {
  it('writes the file and says what comes next', async () => {
    const { cwd, printed } = await run([]);
    const file = join(cwd, 'indexhouse.yaml');
    expect(await readFile(file, 'utf8')).toContain('base_url:');
    expect(printed).toContain(`Wrote ${file}\n`);
    expect(printed).toContain('export INDEXHOUSE_TOKEN=…');
    expect(printed).toContain('websites in ');
    expect(printed).toMatch(/indexhouse doctor\n/);
  });

  it('takes --config, and repeats it in the next steps', async () => {
    const { cwd, printed } = await run(['--config', "my 'own.yaml"]);
    expect(await readFile(join(cwd, "my 'own.yaml"), 'utf8')).toContain('base_url:');
    expect(printed).toContain(`indexhouse doctor --config 'my '\\''own.yaml'`);
  });

  it('takes INDEXHOUSE_CONFIG, and asks for no token that is set', async () => {
    const { cwd, printed } = await run([], { INDEXHOUSE_CONFIG: 'x.yaml', INDEXHOUSE_TOKEN: 't-1' });
    expect(printed).toContain(join(cwd, 'x.yaml'));
    expect(printed).not.toMatch(/export|t-1/);
  });

  it('prints one JSON document with --json', async () => {
    const { cwd, printed } = await run(['--json']);
    expect(JSON.parse(printed)).toMatchObject({ file: join(cwd, 'indexhouse.yaml'), next: expect.any(Array) });
  });

  it('finds its flags before its name too', async () => {
    const cwd = await mkdtemp(join(tmpdir(), 'indexhouse-init-'));
    const stdout = { write: () => true };
    const program = new Command()
      .option('--config <file>')
      .addCommand(initCommand({ stdout, env: {}, cwd: () => cwd, ask: async () => null }));
    await program.parseAsync(['--config', 'a.yaml', 'init'], { from: 'user' });
    expect(await readFile(join(cwd, 'a.yaml'), 'utf8')).toContain('base_url:');
  });

  it.each([
    ['the flag', ['--pages', '100000'], [], 0],
    ['an answer', [], ['100,000'], 1],
    ['a second answer', [], ['many', '100 000'], 2],
  ])('says what so many pages cost, by %s', async (_, args, answers, questions) => {
    const { printed, asked } = await run(args, {}, undefined, answers);
    expect(printed).toContain(
      '100,000 pages at 60 requests a minute: 101 requests (2 min) list them, 100,000 (27 h 47',
    );
    expect(printed).toContain('See what it costs:  indexhouse plan\n');
    expect(asked).toBe(questions);
  });

  it('says nothing of costs where the answer is none, twice no number, or not asked for', async () => {
    for (const answers of [[''], ['x', '-5'], []])
      expect((await run([], {}, undefined, answers)).printed).not.toMatch(/ pages at/);
    const json = await run(['--json'], {}, undefined, ['5']);
    expect([json.asked, JSON.parse(json.printed)]).toMatchObject([0, { next: expect.any(Array) }]);
    const flagged = await run(['--json', '--pages', '5'], { INDEXHOUSE_API_REQUESTS_PER_MINUTE: '120' });
    expect(JSON.parse(flagged.printed).sentence).toMatch(/^5 pages at 120 requests a minute: /);
  });

  it('never overwrites', async () => {
    const { cwd } = await run([]);
    await expect(run([], {}, cwd)).rejects.toThrow(ConfigError);
  });
});
