import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { processIo } from '../../src/app/cli/io.js';
import { buildProgram } from '../../src/app/cli/program.js';

const GLOSSARY = 'docs/glossary.md';
/** What native readers stumbled over; see the end of the glossary. */
const ODD_WORDS = [
  /\banew\b/i,
  /\bmend(s|ed|ing)?\b/i,
  /done, but look/i,
  /\blet go\b/i,
  /\b(goes|go|going|went|gone) on (with|where|from)\b/i,
  /\basked with\b/i,
  /\b(lies|lie) in\b/i,
  /\bnobody knows\b/i,
  /\btell after\b/i,
  /\bis there, once\b/i,
  /\bconfigured to go\b/i,
  /\bfigures rest on\b/i,
  /\bmay read no\b/i,
  /[\d}] %/,
];

/** The same in documents, whose every word is ours. */
const ODD_IN_DOCUMENTS = [/\black(s|ed|ing)?\b/i, /\bcom(e|es|ing) round\b/i, /\bpass(es|ed)? over\b/i, /\bat hand\b/i];

/** Every text that users read, by where it stands. */
function userTexts(): [place: string, text: string][] {
  const documents = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', ...filesIn('docs', /\.(md|yaml)$/)];
  return [
    ...documents
      .filter((file) => file !== GLOSSARY)
      .map((file): [string, string] => [file, readFileSync(file, 'utf8')]),
    ...filesIn('src', /\.c?ts$/).map((file): [string, string] => [file, sentences(readFileSync(file, 'utf8'))]),
    ...filesIn('sql', /\.sql$/).map((file): [string, string] => [file, readFileSync(file, 'utf8')]),
    ['--help', helps()],
  ];
}

function filesIn(folder: string, name: RegExp): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return files.filter((file) => name.test(file)).map((file) => join(folder, file));
}

/** The sentences of a source file: string literals outside of comments that have a blank in them. */
function sentences(source: string): string {
  const code = source.replace(/^\s*(\/\/|\/?\*).*$/gm, '');
  const literals = code.match(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g) ?? [];
  return literals.filter((text) => text.includes(' ')).join('\n');
}

function helps(): string {
  const program = buildProgram('0.0.0', processIo(), { exitCode: 0 });
  return [program, ...program.commands].map((command) => command.helpInformation()).join('\n');
}

test('no text for users has a word that the glossary replaces', () => {
  const odd = userTexts().flatMap(([place, text]) =>
    text.split('\n').flatMap((line) => {
      const words = /\.(md|yaml)$/.test(place) ? [...ODD_WORDS, ...ODD_IN_DOCUMENTS] : ODD_WORDS;
      return words.some((word) => word.test(line)) ? [`${place}: ${line.trim()}`] : [];
    }),
  );
  expect(odd).toEqual([]);
});
