import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { DICTIONARY, dictionaryText, readDescriptions, readRelations, unused } from './dictionary.js';

const UPDATE = 'UPDATE_GENERATED=1 npx vitest run test/docs/dictionary.test.ts';

test('every column has a description in docs/columns.yaml, and every description a column', async () => {
  const descriptions = readDescriptions();
  const relations = await readRelations(descriptions);
  const missing = relations.flatMap(({ name, columns }) =>
    columns.filter(({ description }) => !description).map((column) => `${name}.${column.name}`),
  );
  const add = missing.map((column) => `add to docs/columns.yaml, under ${column.replace('.', ': a line ')}: …`);
  expect(add, `then run ${UPDATE}`).toEqual([]);
  expect(unused(descriptions, relations), 'docs/columns.yaml describes what does not exist').toEqual([]);
});

test('docs/data-dictionary.md tells the columns as they are', async () => {
  const text = dictionaryText(await readRelations(readDescriptions()));
  if (process.env['UPDATE_GENERATED']) writeFileSync(DICTIONARY, text);
  expect(readFileSync(DICTIONARY, 'utf8'), `it is stale: ${UPDATE}`).toBe(text);
});
