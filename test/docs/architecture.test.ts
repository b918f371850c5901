import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';
import { expect, test } from 'vitest';
import { partOf } from './generated.js';

const DOCUMENT = 'docs/architecture.md';
const IMPORT = /(?:from|import\()\s*'(\.[^']+)'/g;

type Graph = Map<string, Set<string>>;

/** Which folders of `src` import which others, from the import statements. */
function importsOfRooms(): Graph {
  const graph: Graph = new Map();
  for (const file of readdirSync('src', { recursive: true, encoding: 'utf8' })) {
    const [room, inside] = file.split(sep);
    if (!room || inside === undefined || !/\.c?ts$/.test(file)) continue;
    const others = graph.get(room) ?? new Set();
    graph.set(room, others);
    for (const [, path = ''] of readFileSync(join('src', file), 'utf8').matchAll(IMPORT)) {
      const [other, within] = normalize(join(dirname(file), path)).split(sep);
      if (other && within !== undefined && other !== room && other !== '..') others.add(other);
    }
  }
  return graph;
}

/** Whether a way leads from one room to another that does not pass through `around`. */
function leadsTo(graph: Graph, from: string, to: string, around: string): boolean {
  const seen = new Set([around]);
  const waiting = [from];
  for (let room = waiting.pop(); room !== undefined; room = waiting.pop()) {
    if (room === to) return true;
    if (seen.has(room)) continue;
    seen.add(room);
    waiting.push(...(graph.get(room) ?? []));
  }
  return false;
}

/** The arrows that do not follow from others. */
function diagram(graph: Graph): string {
  const arrows = [...graph].flatMap(([room, others]) =>
    [...others]
      .filter((other) => ![...others].some((via) => via !== other && leadsTo(graph, via, other, room)))
      .map((other) => `  ${room} --> ${other}`),
  );
  return ['```mermaid', 'graph TD', ...arrows.sort(), '```'].join('\n');
}

test('docs/architecture.md shows the rooms of src and their imports as they are', () => {
  const graph = importsOfRooms();
  const text = readFileSync(DOCUMENT, 'utf8');
  const now = diagram(graph);
  if (process.env['UPDATE_GENERATED']) {
    writeFileSync(DOCUMENT, text.replace(/(<!-- rooms: generated -->\n)[\s\S]*?(<!-- end -->)/, `$1${now}\n$2`));
  }
  expect(partOf(readFileSync(DOCUMENT, 'utf8'), 'rooms'), 'stale: UPDATE_GENERATED=1 npx vitest run test/docs').toBe(
    now,
  );
  const described = [...text.matchAll(/^\| `(\w+)` \|/gm)].map(([, room]) => room);
  expect(described.sort(), 'the table of rooms').toEqual([...graph.keys()].sort());
});

test('every link in the documents leads to a file', () => {
  const files = readdirSync('docs', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.md'));
  const documents = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...files.map((file) => join('docs', file))];
  const broken = documents.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\]\(([^)#\s]+)[^)]*\)/g)]
      .map(([, link = '']) => link)
      .filter((link) => !/^\w+:/.test(link) && !existsSync(join(dirname(file), link)))
      .map((link) => `${file}: ${link}`),
  );
  expect(broken).toEqual([]);
});
