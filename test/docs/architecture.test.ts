import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

test('docs/architecture.md describes each room of src', () => {
  const [, rooms = ''] = readFileSync('docs/architecture.md', 'utf8').split('## ');
  const described = [...rooms.matchAll(/^\| `(\w+)\/` \|/gm)].map(([, room]) => room);
  expect(described.sort()).toEqual(readdirSync('src').sort());
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
