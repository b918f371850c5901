import { UnreachableError } from '../../base/exit.js';

/** Temporary errors. */
const PASSING = new Set([429, 500, 502, 503, 504]);
const PASSING_CODES = new Set([
  'RequestTimeout',
  'OperationAborted',
  'ConditionalRequestConflict',
  'IncompleteBody',
  // The sent bytes are the hashed ones, so the network changed them.
  'XAmzContentSHA256Mismatch',
  'BadDigest',
]);

/** The bucket refuses requests or cannot be reached, so nothing else would succeed now. */
export class BucketError extends UnreachableError {
  constructor(
    message: string,
    /** Whether the same request may succeed in a moment. */
    readonly isPassing = false,
  ) {
    super(message);
  }
}

/** An object does not have the bytes that were sent. */
export class DamagedObjectError extends BucketError {}

const WRONG_KEY = 'check access_key_id and secret_access_key, or the AWS_… variables that stand for them';
const CHANGED = 'the bytes changed on their way: look at the proxies and the network between';
/** The error codes of S3 and compatible servers. Their messages are not repeated, because they may hold secrets. */
const REMEDIES: Readonly<Record<string, string>> = {
  AccessDenied: 'allow this key s3:ListBucket, s3:GetObject, s3:PutObject and s3:DeleteObject there',
  AllAccessDisabled: 'look at its account',
  AuthorizationHeaderMalformed: 'set bucket.region to the region of the bucket',
  ExpiredToken: 'its credentials have expired: renew them',
  InvalidAccessKeyId: WRONG_KEY,
  InvalidToken: 'bucket.session_token or AWS_SESSION_TOKEN does not belong to this key',
  NoSuchBucket: 'create the bucket, or check bucket.url and bucket.endpoint',
  NotImplemented: 'this server lacks conditional writes: a newer version, or another server, is needed',
  PermanentRedirect: 'set bucket.region to the region of the bucket',
  BadDigest: CHANGED,
  RequestTimeTooSkewed: "the clocks differ: set this machine's clock",
  SignatureDoesNotMatch: WRONG_KEY,
  SlowDown: 'it asks for fewer requests: the next sync tries again',
  XAmzContentSHA256Mismatch: CHANGED,
};
const OF_STATUS: Readonly<Record<number, string>> = {
  301: 'PermanentRedirect',
  307: 'PermanentRedirect',
  403: 'AccessDenied',
  404: 'NoSuchBucket',
  501: 'NotImplemented',
};

/** @param xml the answer's body, which an answer to HEAD lacks */
export function codeIn(xml: string): string {
  return /<Code>([A-Za-z0-9]{1,64})<\/Code>/.exec(xml)?.[1] ?? '';
}

/** The error for an unexpected answer. */
export function refusal(what: string, status: number, code: string): BucketError {
  const remedy =
    REMEDIES[code] ?? REMEDIES[OF_STATUS[status] ?? ''] ?? 'try again later; if it stays, look at its logs';
  const isPassing = PASSING.has(status) || PASSING_CODES.has(code);
  return new BucketError(`${what}: it answered ${status}${code ? ` ${code}` : ''}; ${remedy}`, isPassing);
}
