import { expect, it } from 'vitest';
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
