import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { run } from '../../given/cli.js';
import { temporaryFolder } from '../../given/folder.js';

async function init(args: string[], env: Record<string, string> = {}, cwd = temporaryFolder()) {
  const { code, stdout, stderr } = await run(['init', ...args], { cwd, env });
  return { cwd, code, printed: stdout, stderr };
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
    const { cwd, printed } = await init([], { INDEXHOUSE_CONFIG: 'x.yaml', INDEXHOUSE_TOKEN: 'hush-hush' });
    expect(printed).toContain(join(cwd, 'x.yaml'));
    expect(printed).not.toMatch(/export|hush/);
  });

  it('prints one JSON document with --json', async () => {
    const { cwd, printed } = await init(['--json']);
    expect(JSON.parse(printed)).toMatchObject({ file: join(cwd, 'indexhouse.yaml'), next: expect.any(Array) });
  });
});
