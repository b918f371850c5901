import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { initCommand } from '../../src/cli/init.js';
import { ConfigError } from '../../src/config/errors.js';

async function run(args: string[], env: Record<string, string> = {}, folder?: string) {
  const cwd = folder ?? (await mkdtemp(join(tmpdir(), 'indexhouse-init-')));
  let printed = '';
  const stdout = { write: (text: string) => (printed += text) };
  await initCommand({ stdout, env, cwd: () => cwd }).parseAsync(args, { from: 'user' });
  return { cwd, printed };
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
      .addCommand(initCommand({ stdout, env: {}, cwd: () => cwd }));
    await program.parseAsync(['--config', 'a.yaml', 'init'], { from: 'user' });
    expect(await readFile(join(cwd, 'a.yaml'), 'utf8')).toContain('base_url:');
  });

  it('never overwrites', async () => {
    const { cwd } = await run([]);
    await expect(run([], {}, cwd)).rejects.toThrow(ConfigError);
  });
});
