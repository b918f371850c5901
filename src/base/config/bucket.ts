import { z } from 'zod';
import { path, says } from './scalars.js';

const BUCKET = /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/|$)/;
const PREFIX = /^[\w!.*'()=-]+$/;

const badBucket = says(
  'is not the address of a bucket',
  'Write it as s3://bucket or s3://bucket/prefix, in plain letters.',
);

/** `s3://name/prefix`, without a trailing slash. */
export function bucketUrl() {
  return z
    .string(badBucket)
    .transform((url) => url.replace(/\/$/, ''))
    .refine((url) => {
      const [, , , ...prefix] = url.split('/');
      return BUCKET.test(url) && prefix.every((name) => PREFIX.test(name) && !/^\.+$/.test(name));
    }, badBucket);
}

const isBucket = says(
  'is a bucket, not a folder',
  'Restore it into a folder first: `indexhouse restore --from s3://name/prefix --warehouse ./warehouse`.',
);

/** The folder of a warehouse. */
export function warehousePath() {
  return path().refine((place) => !place.startsWith('s3://'), isBucket);
}
