import { messageOf, UnreachableError } from '../../base/exit.js';
import { codeOf } from '../../base/storage/durable.js';

/** Temporary errors. */
const PASSING = new Set([429, 500, 502, 503, 504]);
/** The last two: the sent bytes are the hashed ones, so the network changed them. */
const PASSING_CODES =
  /^(RequestTimeout|OperationAborted|ConditionalRequestConflict|IncompleteBody|BadDigest|XAmzContentSHA256Mismatch)$/;
/** Error codes of undici and Node.js for connection problems. */
const CONNECTION =
  /^(UND_ERR_|HPE_|E(CONN|PIPE|TIMEDOUT|NOTFOUND|AI_|HOSTUNREACH|NETUNREACH|PROTO)|ERR_(TLS|SSL)|.*(CERT|SIGNATURE))|PREMATURE/;

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

/** By error code or status, of S3 and compatible servers. Their messages are not repeated: they may hold secrets. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/^(AccessDenied|403)$/, 'allow this key s3:ListBucket, s3:GetObject, s3:PutObject and s3:DeleteObject there'],
  [/^(AuthorizationHeaderMalformed|301|307)$/, 'set AWS_REGION to the region of the bucket'],
  [/^(BadDigest|XAmz.*Mismatch)$/, 'the bytes changed on their way: look at the proxies and the network between'],
  [/^ExpiredToken$/, 'its credentials have expired: renew them'],
  [/^Invalid(AccessKeyId|Token)$|^Signature/, 'check the keys in the AWS_… variables'],
  [/^(NoSuchBucket|404)$/, 'create the bucket, or check its address and AWS_ENDPOINT_URL'],
  [/^(NotImplemented|501)$/, 'this server lacks conditional writes: a newer version, or another server, is needed'],
  [/^RequestTimeTooSkewed$/, "the clocks differ: set this machine's clock"],
  [/^SlowDown$/, 'it asks for fewer requests: the next sync tries again'],
];

export function codeIn(xml: string): string {
  return /<Code>([A-Za-z0-9]{1,64})<\/Code>/.exec(xml)?.[1] ?? '';
}

/** The error for an unexpected answer. */
export function refusal(what: string, status: number, code: string): BucketError {
  const remedyFor = (what: string) => REMEDIES.find(([pattern]) => pattern.test(what))?.[1];
  const remedy = remedyFor(code) ?? remedyFor(`${status}`) ?? 'try again later; if it stays, look at its logs';
  const isPassing = PASSING.has(status) || PASSING_CODES.test(code);
  return new BucketError(`${what}: it answered ${status}${code ? ` ${code}` : ''}; ${remedy}`, isPassing);
}

/** The error for a request without an answer; any other error as it is. */
export function connectionError(what: string, error: unknown): unknown {
  const code = codeOf(error);
  if (!CONNECTION.test(code)) return error;
  const remedy = /CERT|SIGNATURE/.test(code)
    ? 'if an authority of your own signed its certificate, name its PEM file in NODE_EXTRA_CA_CERTS'
    : 'check the network and AWS_ENDPOINT_URL';
  return new BucketError(`${what}: ${messageOf(error) || code}; ${remedy}`, true);
}
