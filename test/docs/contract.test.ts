import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readDescriptions } from '../../src/warehouse/log/folder/dictionary.js';
import { DICTIONARY, dictionaryText, relationsNow, unused } from './dictionary.js';
import { generatedParts, partOf, readContract, updateContract } from './generated.js';

const UPDATE = 'UPDATE_GENERATED=1 npx vitest run test/docs';

test.each(Object.entries(generatedParts()))('docs/contract.md lists the %s as they are', (name, part) => {
  if (process.env['UPDATE_GENERATED']) updateContract({ [name]: part });
  expect(partOf(readContract(), name)).toBe(part);
});

test('every column has a description in docs/columns.yaml, and every description a column', async () => {
  const descriptions = readDescriptions();
  const relations = await relationsNow(descriptions);
  const missing = relations.flatMap(({ name, columns }) =>
    columns.filter(({ description }) => !description).map((column) => `${name}.${column.name}`),
  );
  const add = missing.map((column) => `add to docs/columns.yaml, under ${column.replace('.', ': a line ')}: …`);
  expect(add, `then run ${UPDATE}`).toEqual([]);
  expect(unused(descriptions, relations), 'docs/columns.yaml describes what does not exist').toEqual([]);
  const text = dictionaryText(relations);
  if (process.env['UPDATE_GENERATED']) writeFileSync(DICTIONARY, text);
  expect(readFileSync(DICTIONARY, 'utf8'), `it is stale: ${UPDATE}`).toBe(text);
});
