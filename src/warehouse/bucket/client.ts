import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AwsV4Signer } from 'aws4fetch';
import type { Dispatcher } from 'undici';
import type { BucketConfig } from '../../base/config/bucket.js';
import { type Effects, realEffects } from '../../base/effects.js';
import { Failure } from '../../base/exit.js';
import { dispatcherFor, exchange, type HttpAnswer } from '../../base/http/exchange.js';
import { backoffMs, retried } from '../../base/http/retry.js';
import { codeOf, makeFolder, publishFile, sha256Of, sizeOf } from '../../base/storage/durable.js';
import { SECOND_MS } from '../../base/time.js';
import { BucketError, codeIn, DamagedObjectError, refusal } from './errors.js';
import { type ListedObject, readListing } from './listing.js';

const SHA256_OF_NOTHING = createHash('sha256').digest('hex');
/** The SHA-256 that an object was sent with. */
const SENT = 'x-amz-meta-sha256';
const DEFAULT_REGION = 'us-east-1';
const CONNECTIONS = 8;
const MAX_TEXT_BYTES = 64e6;
const NO_LISTING = 'what it answered is not a whole listing; check bucket.endpoint, and the proxies between';
/** Error codes of undici and Node.js for connection problems. */
const CONNECTION =
  /^(UND_ERR_|HPE_|E(CONN|PIPE|TIMEDOUT|NOTFOUND|AI_|HOSTUNREACH|NETUNREACH|PROTO)|ERR_(TLS|SSL)|.*(CERT|SIGNATURE))|PREMATURE/;
/** For callers that wait for an answer. */
export const AWAITED: BucketOptions = { attempts: 2, timeout: 5 * SECOND_MS };

export interface BucketOptions {
  /** The environment, for what the configuration leaves out: the variables that every tool for S3 reads. */
  env?: Readonly<Record<string, string | undefined>>;
  effects?: Pick<Effects, 'now' | 'sleep' | 'random'>;
  /** Attempts per request. */
  attempts?: number;
  /** How long each attempt waits for an answer, in milliseconds. */
  timeout?: number;
  /** Called before anything is written or removed, and stops that by throwing. */
  beforeWrites?: () => Promise<void>;
}

/** What is sent: text, bytes, or a file with its expected SHA-256. */
export type Content = string | Uint8Array | { file: string; sha256?: string | undefined };

/** The object under a key. */
export interface StoredObject {
  body: Buffer;
  /** Milliseconds since it was written, by the server's own clock. */
  ageMs: number;
}

interface Ask {
  method: 'GET' | 'PUT' | 'DELETE' | 'HEAD';
  key: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  content?: Content;
  /** The file that the answer is written to. */
  into?: string;
  /** A status besides 200 and 204 that is not an error. 404 says that there is no such object. */
  also?: 404 | 412;
}

/**
 * A bucket of S3, or of a compatible server. Keys are relative to the prefix of `bucket.url`. Temporary errors (500,
 * 503, a broken connection) are retried; all others are a `BucketError` that says what to do.
 */
export class Bucket {
  readonly #path: string;
  readonly #prefix: string;
  readonly #server: string;
  readonly #credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string; region: string };
  readonly #dispatcher: Dispatcher;
  readonly #effects: Pick<Effects, 'now' | 'sleep' | 'random'>;
  readonly #attempts: number;
  readonly #timeout: number;
  readonly #beforeWrites: () => Promise<void>;

  /** @throws BucketError if there are no credentials */
  constructor(
    private readonly config: BucketConfig,
    {
      env = process.env,
      effects = realEffects,
      attempts = 5,
      timeout = 60 * SECOND_MS,
      beforeWrites,
    }: BucketOptions = {},
  ) {
    const [name = '', ...prefix] = config.url.slice('s3://'.length).split('/');
    this.#path = `/${name}`;
    this.#prefix = prefix.map((part) => `${part}/`).join('');
    const region = config.region ?? (env['AWS_REGION'] || env['AWS_DEFAULT_REGION'] || DEFAULT_REGION);
    this.#credentials = { ...this.#keys(env), region };
    this.#server = new URL(endpointOf(config, env) ?? `https://s3.${region}.amazonaws.com`).origin;
    const timeouts = { headersTimeout: timeout, bodyTimeout: timeout, connect: { timeout } };
    this.#dispatcher = dispatcherFor(this.#server, { connections: CONNECTIONS, ...timeouts });
    this.#effects = effects;
    this.#attempts = attempts;
    this.#timeout = timeout;
    this.#beforeWrites = beforeWrites ?? (async () => {});
  }

  get url(): string {
    return this.config.url;
  }

  /**
   * Writes an object; with `ifAbsent`, only if there is none. The server refuses bytes with another SHA-256.
   *
   * @returns false if there was one already, which after a broken connection may be this one
   * @throws BucketError; Failure if a file does not have its SHA-256
   */
  async put(key: string, content: Content, { ifAbsent = true } = {}): Promise<boolean> {
    await this.#beforeWrites();
    const headers: Record<string, string> = ifAbsent ? { 'if-none-match': '*' } : {};
    const { status } = await this.#again({ method: 'PUT', key, headers, content, also: 412 });
    return status !== 412;
  }

  /** @returns null if there is no such object */
  async get(key: string): Promise<StoredObject | null> {
    const { status, body, headers } = await this.#again({ method: 'GET', key, also: 404 });
    if (status === 404) return null;
    const timeOf = (name: string) => Date.parse(String(headers[name] ?? ''));
    return { body, ageMs: timeOf('date') - timeOf('last-modified') || 0 };
  }

  /**
   * Writes an object to a file, completely or not at all.
   *
   * @param sha256 the expected SHA-256 of its bytes; `sent`: that of the bytes that it was sent with
   * @returns its size in bytes; null if there is no such object
   * @throws DamagedObjectError if its SHA-256 differs
   */
  async download(key: string, file: string, sha256?: string): Promise<number | null> {
    await makeFolder(dirname(file));
    const temporary = `${file}.tmp`;
    try {
      const { status, headers } = await this.#again({ method: 'GET', key, into: temporary, also: 404 });
      if (status === 404) return null;
      const wanted = sha256 === 'sent' ? headers[SENT] : sha256;
      if (wanted !== undefined && (await sha256Of(temporary)) !== wanted)
        throw new DamagedObjectError(`${this.url}/${key} is damaged: its SHA-256 differs`);
      await publishFile(temporary, file);
      return sizeOf(file);
    } finally {
      await rm(temporary, { force: true });
    }
  }

  /** All objects whose key begins with the prefix, ordered by key. */
  async *list(prefix: string): AsyncGenerator<ListedObject> {
    let token: string | null = null;
    do {
      const query = {
        'list-type': '2',
        'encoding-type': 'url',
        prefix: `${this.#prefix}${prefix}`,
        ...(token === null ? {} : { 'continuation-token': token }),
      };
      const { body } = await this.#again({ method: 'GET', key: '', query });
      const listing: ReturnType<typeof readListing> = readListing(body.toString('utf8'));
      if (!listing) throw new BucketError(`${this.url}: ${NO_LISTING}`);
      const { objects, next }: typeof listing = listing;
      for (const one of objects) yield { ...one, key: one.key.slice(this.#prefix.length) };
      if (next !== null && next === token) throw new BucketError(`${this.url}: its listing does not end`);
      token = next;
    } while (token !== null);
  }

  async keys(prefix: string): Promise<string[]> {
    const keys: string[] = [];
    for await (const { key } of this.list(prefix)) keys.push(key);
    return keys;
  }

  async remove(key: string): Promise<void> {
    await this.#beforeWrites();
    await this.#again({ method: 'DELETE', key, also: 404 });
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }

  #keys(env: NonNullable<BucketOptions['env']>) {
    const { access_key_id: id, secret_access_key: secret, session_token: session } = this.config;
    const [accessKeyId, secretAccessKey, sessionToken] =
      id !== undefined && secret !== undefined
        ? [id, secret, session]
        : [env['AWS_ACCESS_KEY_ID'], env['AWS_SECRET_ACCESS_KEY'], env['AWS_SESSION_TOKEN']];
    if (accessKeyId && secretAccessKey)
      return { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) };
    const remedy = 'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or both keys in the section bucket';
    throw new BucketError(`there are no credentials for ${this.url}: ${remedy}`);
  }

  /** Sends a request, and retries it while errors are temporary and attempts are left. */
  #again(ask: Ask): Promise<HttpAnswer> {
    const what = `${ask.method} ${this.url}/${ask.key}`;
    const waitAfter = (error: unknown, tries: number) => {
      if (!(error instanceof BucketError) || !error.isPassing || tries >= this.#attempts) throw error;
      return backoffMs(tries, this.#effects);
    };
    return retried(() => this.#accepted(ask, what), waitAfter, this.#effects);
  }

  /** @throws BucketError if there is no connection, or an answer that was not expected */
  async #accepted(ask: Ask, what: string): Promise<HttpAnswer> {
    const answer = await this.#send(ask).catch((error) => {
      if (!CONNECTION.test(codeOf(error))) throw error;
      throw new BucketError(`${what}: ${error.message || codeOf(error)}; ${remedyOf(error)}`, true);
    });
    const { status, body } = answer;
    if (status === 200 || status === 204) return answer;
    const code = codeIn(body.toString('utf8'));
    // A missing object and a missing bucket are both 404.
    if (status === ask.also && code !== 'NoSuchBucket') return answer;
    throw refusal(what, status, code);
  }

  async #send({ method, key, query = {}, headers = {}, content, into }: Ask): Promise<HttpAnswer> {
    const full = key === '' ? this.#path : `${this.#path}/${this.#prefix}${key}`;
    const search = Object.entries(query).map((pair) => pair.map(encodeURIComponent).join('='));
    const path = `${full.split('/').map(encodeURIComponent).join('/')}${search.length > 0 ? `?${search.join('&')}` : ''}`;
    const { sha256, length, body } = await bodyOf(content);
    const signer = new AwsV4Signer({
      ...this.#credentials,
      service: 's3',
      method,
      url: `${this.#server}${path}`,
      headers: { ...headers, 'x-amz-content-sha256': sha256, ...(content === undefined ? {} : { [SENT]: sha256 }) },
      datetime: new Date(this.#effects.now()).toISOString().replace(/[:-]|\.\d{3}/g, ''),
    });
    const signed = Object.fromEntries((await signer.sign()).headers);
    const sized = content === undefined ? {} : { 'content-length': String(length) };
    const request = { origin: this.#server, path, method, headers: { ...signed, ...sized }, body };
    return exchange(this.#dispatcher, request, { timeout: this.#timeout, maxBytes: MAX_TEXT_BYTES, tooLarge, into });
  }
}

function tooLarge(): BucketError {
  return new BucketError('the bucket answered more than was asked for');
}

/** The address of the server that holds a bucket, from the configuration or the environment; undefined: AWS. */
export function endpointOf({ endpoint }: BucketConfig, env: NonNullable<BucketOptions['env']>): string | undefined {
  return endpoint ?? (env['AWS_ENDPOINT_URL_S3'] || env['AWS_ENDPOINT_URL'] || undefined);
}

/** Opens a bucket, passes it to `use`, and always closes it. */
export async function withBucket<T>(
  config: BucketConfig,
  use: (bucket: Bucket) => Promise<T>,
  options?: BucketOptions,
): Promise<T> {
  const bucket = new Bucket(config, options);
  try {
    return await use(bucket);
  } finally {
    await bucket.close();
  }
}

/** @throws Failure if a file does not have its SHA-256: not every server checks it */
async function bodyOf(content: Content | undefined) {
  if (content === undefined) return { sha256: SHA256_OF_NOTHING, length: 0, body: null };
  if (typeof content === 'string' || content instanceof Uint8Array) {
    return {
      sha256: createHash('sha256').update(content).digest('hex'),
      length: Buffer.byteLength(content),
      body: content,
    };
  }
  const { file, sha256 } = content;
  const found = await sha256Of(file);
  if (sha256 !== undefined && found !== sha256) throw new Failure(`${file} was changed after its commit`);
  return { sha256: found, length: await sizeOf(file), body: createReadStream(file) };
}

function remedyOf(error: unknown): string {
  if (!/CERT|SIGNATURE/.test(codeOf(error))) return 'check the network and bucket.endpoint';
  return 'if an authority of your own signed its certificate, name its PEM file in NODE_EXTRA_CA_CERTS';
}
