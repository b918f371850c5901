import { expect, it } from 'vitest';
import { csvText } from '../../../src/base/observe/csv.js';
import { readListing } from '../../../src/warehouse/bucket/client.js';
import { firstLine } from '../../../src/warehouse/log/folder/damage.js';

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

it.each(['=1', '+1', '-1', '@a', '＝1', '\t1', ' \u200b=1'])('guards %j in CSV from spreadsheets', async (text) => {
  async function* parts() {
    yield [[text, 'a=1', -1]];
  }
  const lines: string[] = [];
  for await (const line of csvText(['a', 'b', 'c'], parts(), { isRaw: false, isFile: false })) lines.push(line);
  expect(lines.at(-1)).toBe(`'${text},a=1,-1\r\n`);
});
