import { z } from 'zod';
import { mapping, path, says, serverUrl, text, token } from './scalars.js';

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

/** `bucket`: missing keys come from the environment when the bucket is opened. */
export const bucket = mapping({
  url: bucketUrl().describe('Address of the bucket: s3://name, or s3://name/prefix.'),
  endpoint: serverUrl('Write it as https://s3.example.com, without the bucket.')
    .optional()
    .describe('Address of the server that speaks S3; by default AWS_ENDPOINT_URL, else AWS itself.'),
  region: text('the name of a region').optional().describe('Its region; by default AWS_REGION, else us-east-1.'),
  access_key_id: token()
    .optional()
    .describe(`Key ID; \${NAME} reads the environment. By default AWS_ACCESS_KEY_ID, with the two keys below.`),
  secret_access_key: token().optional().describe('Secret of that key; by default AWS_SECRET_ACCESS_KEY.'),
  session_token: token().optional().describe('Token of temporary credentials; by default AWS_SESSION_TOKEN.'),
}).superRefine(({ access_key_id: id, secret_access_key: secret }, context) => {
  if ((id === undefined) === (secret === undefined)) return;
  // Otherwise, half of a key would be combined with half of another one from the environment.
  const missing = id === undefined ? 'access_key_id' : 'secret_access_key';
  const message = 'is missing\nSet both keys, or neither: then both come from the environment.';
  context.addIssue({ code: 'custom', path: [missing], message });
});

/** A bucket as it is configured. */
export type BucketConfig = z.output<typeof bucket>;
