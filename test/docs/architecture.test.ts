import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { partOf } from './generated.js';

const DOCUMENT = 'docs/architecture.md';
const IMPORT = /(?:from|import\()\s*'(\.[^']+)'/g;

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.c?ts$/.test(file))
  .sort();
const roomOf = (file: string) => file.split('/')[0] ?? '';

/** Which files of each folder other rooms import, and how many it has. */
function faces(): string {
  const open = new Set<string>();
  for (const file of sources) {
    for (const [, path = ''] of readFileSync(join('src', file), 'utf8').matchAll(IMPORT)) {
      const target = normalize(join(dirname(file), path)).replace(/js$/, 'ts');
      if (roomOf(target) !== roomOf(file)) open.add(target);
    }
  }
  const rows = [...new Set(sources.map((file) => dirname(file)))].map((folder) => {
    const inside = sources.filter((file) => dirname(file) === folder);
    const names = inside.filter((file) => open.has(file)).map((file) => basename(file, '.ts'));
    return `| \`${folder}\` | ${inside.length} | ${names.join(', ') || '–'} |`;
  });
  return ['| folder | files | of these, other rooms import |', '|---|--:|---|', ...rows].join('\n');
}

test('docs/architecture.md names the rooms of src, and what other rooms import of each', () => {
  const text = readFileSync(DOCUMENT, 'utf8');
  const now = faces();
  if (process.env['UPDATE_GENERATED']) {
    writeFileSync(DOCUMENT, text.replace(/(<!-- faces: generated -->\n)[\s\S]*?(<!-- end -->)/, `$1${now}\n$2`));
  }
  const written = partOf(readFileSync(DOCUMENT, 'utf8'), 'faces');
  expect(written, 'stale: UPDATE_GENERATED=1 npx vitest run test/docs').toBe(now);
  const described = [...text.matchAll(/^\| `(\w+)\/` \|/gm)].map(([, room]) => room);
  expect(described.sort(), 'the table of rooms').toEqual([...new Set(sources.map(roomOf))].sort());
});

test('every link in the documents leads to a file, and every file of the project that they name is there', () => {
  const files = readdirSync('docs', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.md'));
  const documents = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...files.map((file) => join('docs', file))];
  const broken = documents.flatMap((file) => {
    const text = readFileSync(file, 'utf8');
    const links = [...text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)]
      .map(([, link = '']) => link)
      .filter((link) => !/^\w+:/.test(link) && !existsSync(join(dirname(file), link)));
    const named = [...text.matchAll(/`((?:src|sql|test|bench|jobs)\/[\w./-]*)`/g)]
      .map(([, path = '']) => path)
      .filter((path) => !existsSync(path));
    return [...links, ...named].map((path) => `${file}: ${path}`);
  });
  expect(broken).toEqual([]);
});
