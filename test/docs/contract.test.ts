import { expect, test } from 'vitest';
import { readDescriptions } from '../../src/warehouse/log/folder/dictionary.js';
import { dictionaryText, relationsNow, unused } from './dictionary.js';
import { generatedParts, partOf } from './generated.js';

const UPDATE = 'UPDATE_GENERATED=1 npx vitest run test/docs';

test.each(Object.entries(generatedParts()))('docs/contract.md lists the %s as they are', (name, part) => {
  expect(partOf('contract.md', name, part), `it is stale: ${UPDATE}`).toBe(part);
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
  expect(partOf('data-dictionary.md', 'tables', text), `it is stale: ${UPDATE}`).toBe(text);
});
