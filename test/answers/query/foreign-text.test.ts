import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Reader } from '../../../src/answers/query/reader.js';
import { readListing } from '../../../src/warehouse/bucket/client.js';
import { firstLine } from '../../../src/warehouse/log/folder/damage.js';
import { temporaryFolder } from '../../given/folder.js';
import { buildWarehouse } from '../../given/warehouse.js';
import { rowsOf } from './given.js';

const DASHES = `https://shop.example/${'-'.repeat(8000)}`;
const OTHERS = Array.from({ length: 300 }, (_, at) => `https://shop.example/${at}-`);

it('matches 1,000 patterns with many stars with a page of 8,000 dashes, the first of them first', async () => {
  const lists = { shop: [DASHES, ...OTHERS].map((url) => ({ url })) };
  const warehouse = await buildWarehouse([{ at: '2025-03-01T02:00:00Z', lists }]);
  const file = join(temporaryFolder(), 'own.csv');
  const patterns = Array.from({ length: 997 }, (_, at) => `${'*-'.repeat(at % 50)}*x${at}`);
  const said = [...patterns, '/9*-', '/*-*-*', 'https://*', 'é'.repeat(2001)].map((pattern, at) => `${pattern},${at}`);
  writeFileSync(file, ['pattern,row', ...said].join('\n'));
  const options = { warehouse: warehouse.path, memoryLimit: 256e6, pagesFrom: file };
  const reader = await Reader.open(options);
  const counts = 'select "row"::integer as "row", count(*)::integer as n from pages group by 1 order by 1';
  expect(await rowsOf(reader, counts)).toEqual([
    { row: 997, n: 11 },
    { row: 998, n: 1 },
    { row: 999, n: 289 },
  ]);
  reader.close();
});

it('reads an error and a listing of 2 MB that never end a thing', () => {
  expect(firstLine(new Error(`${'. '.repeat(2 ** 20)}x. (in: ${' (in: '.repeat(2 ** 18)}`))).toMatch(/^\. .*x\.$/);
  const listing = `<ListBucketResult>${'<Contents>'.repeat(2e5)}</ListBucketResult>`;
  expect(readListing(listing)).toBeNull();
});

it.each(['%zz', '%E4', '&#x110000;', '&#99999999999;'])(
  'reads no listing from a bucket that names an object %s',
  (key) => {
    const object = `<Key>${key}</Key><Size>1</Size><ETag>e</ETag><LastModified>2026-01-01T00:00:00Z</LastModified>`;
    const listing = `<ListBucketResult><IsTruncated>false</IsTruncated><Contents>${object}</Contents></ListBucketResult>`;
    expect(readListing(listing)).toBeNull();
    expect(readListing(listing.replace(key, 'a'))).toMatchObject({ objects: [{ key: 'a' }] });
  },
);
