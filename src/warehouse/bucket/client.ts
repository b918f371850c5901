import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AwsV4Signer } from 'aws4fetch';
import type { Dispatcher } from 'undici';
import { Failure } from '../../base/exit.js';
import { dispatcherFor, exchange, type HttpAnswer } from '../../base/http/exchange.js';
import { backoffMs, retried } from '../../base/http/retry.js';
import { makeFolder, publishFile, sha256Of, sizeOf } from '../../base/storage/durable.js';
import { type Effects, realEffects, SECOND_MS } from '../../base/time.js';
import { BucketError, codeIn, connectionError, refusal } from './errors.js';

/** The SHA-256 that an object was sent with. */
const SENT = 'x-amz-meta-sha256';
const DEFAULT_REGION = 'us-east-1';
const CONNECTIONS = 8;
const MAX_TEXT_BYTES = 64e6;
const NO_LISTING = 'what it answered is not a whole listing; check AWS_ENDPOINT_URL, and the proxies between';
/** For callers that wait for an answer. */
export const AWAITED: BucketOptions = { attempts: 2, timeout: 5 * SECOND_MS };
/** Writes an object only if there is none with its key. */
export const IF_ABSENT = { 'if-none-match': '*' };

export interface BucketOptions {
  /** The environment: server, region and keys are in the variables that every tool for S3 reads. */
  env?: Readonly<Record<string, string | undefined>>;
  effects?: Pick<Effects, 'now' | 'sleep' | 'random'>;
  /** Attempts per request. */
  attempts?: number;
  /** How long each attempt waits for an answer, in milliseconds. */
  timeout?: number;
}

/** What is sent: text, or a file with its expected SHA-256. */
export type Content = string | { file: string; sha256?: string | undefined };

interface Ask {
  method: 'GET' | 'PUT' | 'DELETE';
  key: string;
  query?: Record<string, string>;
  headers?: Readonly<Record<string, string>>;
  content?: Content;
  /** The file that the answer is written to. */
  into?: string;
}

/**
 * A bucket of S3, or of a compatible server. Keys are relative to the prefix of `url`. Temporary errors (500,
 * 503, a broken connection) are retried; all others are a `BucketError` that says what to do.
 */
export class Bucket {
  readonly #path: string;
  readonly #prefix: string;
  readonly #server: string;
  readonly #credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string; region: string };
  readonly #dispatcher: Dispatcher;
  readonly #options: Required<Omit<BucketOptions, 'env'>>;

  /** @throws BucketError if there are no credentials */
  constructor(
    /** Such as `s3://name/prefix`. */
    readonly url: string,
    { env = process.env, effects = realEffects, attempts = 5, timeout = 60 * SECOND_MS }: BucketOptions = {},
  ) {
    const [name = '', ...prefix] = url.slice('s3://'.length).split('/');
    this.#path = `/${name}`;
    this.#prefix = prefix.map((part) => `${part}/`).join('');
    const region = env['AWS_REGION'] || env['AWS_DEFAULT_REGION'] || DEFAULT_REGION;
    this.#credentials = { ...keysFor(url, env), region };
    const endpoint = env['AWS_ENDPOINT_URL_S3'] || env['AWS_ENDPOINT_URL'];
    this.#server = new URL(endpoint || `https://s3.${region}.amazonaws.com`).origin;
    const timeouts = { headersTimeout: timeout, bodyTimeout: timeout, connect: { timeout } };
    this.#dispatcher = dispatcherFor(this.#server, { connections: CONNECTIONS, ...timeouts });
    this.#options = { effects, attempts, timeout };
  }

  /**
   * Writes an object under a condition. The server refuses bytes with another SHA-256.
   *
   * @param condition `IF_ABSENT`, an `if-match` with an ETag, or nothing
   * @returns false if it does not hold, which after a broken connection may be due to this very object
   * @throws BucketError; Failure if a file does not have its SHA-256
   */
  async put(key: string, content: Content, condition: Readonly<Record<string, string>> = IF_ABSENT): Promise<boolean> {
    const { status } = await this.#ask({ method: 'PUT', key, headers: condition, content });
    return status !== 412;
  }

  /** @returns null if there is no such object */
  async get(key: string): Promise<{ text: string; etag: string } | null> {
    const { status, body, headers } = await this.#ask({ method: 'GET', key });
    return status === 404 ? null : { text: body.toString('utf8'), etag: headers.etag ?? '' };
  }

  /**
   * Writes an object to a file, completely or not at all.
   *
   * @param sha256 the expected SHA-256 of its bytes; `sent`: that of the bytes that it was sent with
   * @returns its size in bytes; or why nothing was written: there is no such object, or its SHA-256 differs
   */
  async download(key: string, file: string, sha256: string): Promise<number | 'missing' | 'damaged'> {
    await makeFolder(dirname(file));
    const temporary = `${file}.tmp`;
    try {
      const { status, headers } = await this.#ask({ method: 'GET', key, into: temporary });
      if (status === 404) return 'missing';
      const wanted = sha256 === 'sent' ? headers[SENT] : sha256;
      if (wanted !== undefined && (await sha256Of(temporary)) !== wanted) return 'damaged';
      await publishFile(temporary, file);
      return sizeOf(file);
    } finally {
      await rm(temporary, { force: true });
    }
  }

  /** All objects whose key begins with the prefix, ordered by key. */
  async list(prefix: string): Promise<ListedObject[]> {
    const asked = { 'list-type': '2', 'encoding-type': 'url', prefix: `${this.#prefix}${prefix}` };
    const all: ListedObject[] = [];
    for (let token: string | null | undefined; token !== null; ) {
      const query = token === undefined ? asked : { ...asked, 'continuation-token': token };
      const { body } = await this.#ask({ method: 'GET', key: '', query });
      const listing = readListing(body.toString('utf8'));
      if (!listing) throw new BucketError(`${this.url}: ${NO_LISTING}`);
      if (listing.next === token) throw new BucketError(`${this.url}: its listing does not end`);
      all.push(...listing.objects.map((one) => ({ ...one, key: one.key.slice(this.#prefix.length) })));
      token = listing.next;
    }
    return all;
  }

  async keys(prefix: string): Promise<string[]> {
    return (await this.list(prefix)).map(({ key }) => key);
  }

  async remove(key: string): Promise<void> {
    await this.#ask({ method: 'DELETE', key });
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }

  /** Sends a request, and retries it while errors are temporary and attempts are left. @throws BucketError */
  #ask(ask: Ask): Promise<HttpAnswer> {
    const { effects, attempts } = this.#options;
    const what = `${ask.method} ${this.url}/${ask.key}`;
    const waitAfter = (error: unknown, tries: number) => {
      if (!(error instanceof BucketError) || !error.isPassing || tries >= attempts) throw error;
      return backoffMs(tries, effects);
    };
    const send = async () => {
      const answer = await this.#send(ask).catch((error: unknown) => {
        throw connectionError(what, error);
      });
      const { status, body } = answer;
      if (status === 200 || status === 204) return answer;
      const code = codeIn(body.toString('utf8'));
      // A missing object and a missing bucket are both 404.
      const isExpected = ask.method === 'PUT' ? status === 412 : status === 404 && ask.key !== '';
      if (isExpected && code !== 'NoSuchBucket') return answer;
      throw refusal(what, status, code);
    };
    return retried(send, waitAfter, effects);
  }

  async #send({ method, key, query = {}, headers = {}, content, into }: Ask): Promise<HttpAnswer> {
    const { effects, timeout } = this.#options;
    const full = key === '' ? this.#path : `${this.#path}/${this.#prefix}${key}`;
    const search = Object.entries(query).map((pair) => pair.map(encodeURIComponent).join('='));
    const path = `${full.split('/').map(encodeURIComponent).join('/')}${search.length > 0 ? `?${search.join('&')}` : ''}`;
    const { sha256, length, body } = await bodyOf(content ?? '');
    const signer = new AwsV4Signer({
      ...this.#credentials,
      service: 's3',
      method,
      url: `${this.#server}${path}`,
      headers: { ...headers, 'x-amz-content-sha256': sha256, ...(content === undefined ? {} : { [SENT]: sha256 }) },
      datetime: new Date(effects.now()).toISOString().replace(/[:-]|\.\d{3}/g, ''),
    });
    const signed = Object.fromEntries((await signer.sign()).headers);
    const sent = content === undefined ? { body: null } : { body, headers: { 'content-length': String(length) } };
    const request = { origin: this.#server, path, method, ...sent, headers: { ...signed, ...sent.headers } };
    const tooLarge = () => new BucketError(`${this.url} answered more than was asked for`);
    return exchange(this.#dispatcher, request, { timeout, maxBytes: MAX_TEXT_BYTES, tooLarge, into });
  }
}

/** Opens a bucket, passes it to `use`, and always closes it. */
export async function withBucket<T>(
  url: string,
  use: (bucket: Bucket) => Promise<T>,
  options?: BucketOptions,
): Promise<T> {
  const bucket = new Bucket(url, options);
  try {
    return await use(bucket);
  } finally {
    await bucket.close();
  }
}

/** @throws BucketError if there are no credentials */
function keysFor(url: string, env: NonNullable<BucketOptions['env']>) {
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
  } = env;
  if (accessKeyId && secretAccessKey)
    return { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) };
  throw new BucketError(`there are no credentials for ${url}: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`);
}

/** @throws Failure if a file does not have its SHA-256: not every server checks it */
async function bodyOf(content: Content) {
  if (typeof content === 'string') {
    const sha256 = createHash('sha256').update(content).digest('hex');
    return { sha256, length: Buffer.byteLength(content), body: content };
  }
  const { file, sha256 } = content;
  const found = await sha256Of(file);
  if (sha256 !== undefined && found !== sha256) throw new Failure(`${file} was changed after its commit`);
  return { sha256: found, length: await sizeOf(file), body: createReadStream(file) };
}

/** An object in a listing. */
export interface ListedObject {
  key: string;
  /** ISO 8601. */
  modified: string;
}

const ENTITIES: Readonly<Record<string, string>> = { quot: '"', amp: '&', lt: '<', gt: '>', apos: "'" };
/** An answer in one piece. A proxy's page, or an answer that was cut off, is none. */
const WHOLE = /^\s*(<\?xml[^>]*\?>\s*)?<ListBucketResult[\s>].*<\/ListBucketResult>\s*$/s;

/**
 * Parses an answer to a ListObjectsV2 request with `encoding-type=url`: flat elements without attributes.
 *
 * @returns null if it is anything else, or not whole; `next` continues the listing, and is null at its end
 */
export function readListing(xml: string): { objects: ListedObject[]; next: string | null } | null {
  try {
    return WHOLE.test(xml) ? wholeListing(xml) : null;
  } catch (error) {
    // A malformed percent-encoding, or the number of no character.
    if (error instanceof URIError || error instanceof RangeError) return null;
    throw error;
  }
}

function wholeListing(xml: string) {
  const objects = [...xml.matchAll(/<Contents>((?:(?!<Contents>).)*?)<\/Contents>/gs)].map(([, one = '']) => ({
    key: decodeURIComponent(textOf(one, 'Key').replaceAll('+', ' ')),
    modified: textOf(one, 'LastModified'),
  }));
  const truncated = textOf(xml, 'IsTruncated');
  const next = truncated === 'true' ? textOf(xml, 'NextContinuationToken') : null;
  const [count, opened] = [textOf(xml, 'KeyCount'), xml.split('<Contents>').length - 1];
  const isWhole =
    ['true', 'false'].includes(truncated) &&
    next !== '' &&
    opened === objects.length &&
    (count === '' || Number(count) === opened) &&
    objects.every(({ key, modified }) => key !== '' && Date.parse(modified) > 0);
  return isWhole ? { objects, next } : null;
}

function textOf(xml: string, element: string): string {
  const [, text = ''] = new RegExp(`<${element}>([^<]*)</${element}>`).exec(xml) ?? [];
  return text.replace(/&(#x?)?(\w+);/g, (whole, numeric: string | undefined, name: string) => {
    if (numeric === undefined) return ENTITIES[name] ?? whole;
    return String.fromCodePoint(Number.parseInt(name, numeric === '#' ? 10 : 16));
  });
}
