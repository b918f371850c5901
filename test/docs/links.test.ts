import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

function isBroken(from: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? from : join(dirname(from), path);
  return !existsSync(target) || (anchor !== undefined && !anchorsOf(target).includes(anchor));
}

/** The anchors of a document's headings, as GitHub makes them. */
function anchorsOf(file: string): string[] {
  const headings = [...readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\d_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test('every link in the documents leads to a file and heading, and every file that they name exists', () => {
  const files = readdirSync('docs', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.md'));
  const documents = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...files.map((file) => join('docs', file))];
  const broken = documents.flatMap((file) => {
    const text = readFileSync(file, 'utf8');
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, link = '']) => link)
      .filter((link) => !/^\w+:/.test(link) && isBroken(file, link));
    const named = [...text.matchAll(/`((?:src|sql|test|bench|jobs)\/[\w./-]*)`/g)]
      .map(([, path = '']) => path)
      .filter((path) => !existsSync(path));
    return [...links, ...named].map((path) => `${file}: ${path}`);
  });
  expect(broken).toEqual([]);
});
