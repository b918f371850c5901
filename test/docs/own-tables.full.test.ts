import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageFolder } from '../../src/base/storage/sql.js';
import { run } from '../given/cli.js';
import { temporaryFolder } from '../given/folder.js';
import { buildWarehouse } from '../given/warehouse.js';

const GUIDE = readFileSync(join(packageFolder(), 'docs', 'bi', 'own-tables.md'), 'utf8');
const FILES = [...GUIDE.matchAll(/^`([\w.]+)`:\n\n```csv\n([\s\S]*?)```/gm)];
const COMMANDS = [...GUIDE.matchAll(/^```sh\nindexhouse ([\s\S]*?)```/gm)].map(([, command = '']) => command);
const YAML = /^```yaml\n(pages_from:[\s\S]*?)```/m.exec(GUIDE)?.[1] ?? '';

/** The words of a command, of which some are in single quotes. */
function wordsOf(command: string): string[] {
  return [...command.trim().matchAll(/'([^']*)'|[^\s']+/g)].map(([word, quoted]) => quoted ?? word);
}

test('every command of docs/bi/own-tables.md runs on the files that it shows', async () => {
  const page = (path: string, index_summary: string) => ({
    url: `https://www.example.com${path}`,
    entry: { index_summary },
  });
  const nights = ['Indexed', 'Not Indexed'].map((summary, day) => ({
    at: `2025-03-0${day + 1}T02:00:00Z`,
    lists: { shop: [page('/', 'Indexed'), page('/blog/a', summary), page('/blog/caf%C3%A9', 'Not Indexed')] },
  }));
  const warehouse = await buildWarehouse(nights);
  const cwd = temporaryFolder();
  for (const [, name = '', text = ''] of FILES) writeFileSync(join(cwd, name), text);
  const config = `api: { base_url: "http://127.0.0.1:9", token: t }\nwarehouse: { path: "${warehouse.path}" }\n${YAML}`;
  writeFileSync(join(cwd, 'indexhouse.yaml'), config);
  const answers: unknown[] = [];
  for (const command of COMMANDS) {
    const { code, stdout, stderr } = await run([...wordsOf(command), '--json', '--log-level', 'error'], { cwd });
    expect([code, stderr]).toEqual([0, '']);
    answers.push(JSON.parse(stdout));
  }
  expect(answers).toMatchObject([
    [
      { url: 'https://www.example.com/blog/caf%C3%A9', inlinks: 0 },
      { url: 'https://www.example.com/blog/a', inlinks: 1 },
    ],
    [
      { owner: 'Anna', pages: 2, indexed: 0 },
      { owner: 'nobody', pages: 1, indexed: 1 },
    ],
    [{ url: 'https://www.example.com/blog/a' }, { url: 'https://www.example.com/blog/caf%C3%A9' }],
  ]);
});
