import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { atEnd } from './folder.js';
import { listenOnLoopback } from './loopback.js';

const ACCESS_KEY = 'AKIDEXAMPLE';
export const SECRET = 'hush/hush+hush';
const SKEW_MS = 15 * 60_000;

/** What goes wrong with a request: `kept` is carried out, and its answer is cut off. */
export type Fault = 'cut' | 'kept' | 'silent' | 'wrong_bytes' | number | `${number} ${string}`;

interface Stored {
  body: Buffer;
  modified: Date;
  /** What it was sent with. */
  sha256?: string | undefined;
}

/** A server that speaks S3 as far as this project asks, in this process. */
export interface GivenBucket {
  url: string;
  /** The environment in which a command finds it, as this process does once it was started. */
  env: Record<string, string>;
  /** What is in the bucket `lake`, by key; a test may change it. */
  objects: Map<string, Stored>;
  /** The requests so far, such as `PUT lake/parquet/…`. */
  requests: string[];
  /** Decides what goes wrong with a request; nothing if left out. */
  fault: ((request: string) => Fault | null) | null;
  /** What it answers instead of a listing. */
  listing: (xml: string) => string;
  /** Whether it heeds If-None-Match and If-Match. */
  isConditional: boolean;
  /** The server's clock. */
  now: () => number;
  close(): Promise<void>;
}

/** The environment of a bucket. */
export function environmentOf(endpoint: string) {
  return { AWS_ENDPOINT_URL: endpoint, AWS_ACCESS_KEY_ID: ACCESS_KEY, AWS_SECRET_ACCESS_KEY: SECRET };
}

/** Such a server, until the end. */
export async function startBucket({ pageSize = 1000, prefix = '' } = {}): Promise<GivenBucket> {
  const server = createServer((request, response) => void answer(request, response));
  const { url: endpoint, close } = await listenOnLoopback(server);
  atEnd(close);
  Object.assign(process.env, environmentOf(endpoint));
  const given: GivenBucket = {
    url: `s3://lake${prefix}`,
    env: environmentOf(endpoint),
    objects: new Map(),
    requests: [],
    fault: null,
    listing: (xml) => xml,
    isConditional: true,
    now: () => Date.now(),
    close,
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://x');
    const [bucket, ...path] = decodeURIComponent(url.pathname).slice(1).split('/');
    const what = `${request.method} ${[bucket, ...path].join('/')}${url.search}`;
    const body = await read(request).catch(() => Buffer.alloc(0));
    given.requests.push(what);
    const fault = given.fault?.(what) ?? null;
    if (fault === 'cut') return void request.socket.destroy();
    if (fault === 'silent') return;
    const [status, code] = String(fault ?? '').split(' ');
    if (Number(status) > 0) return refuse(response, Number(status), code ?? 'InternalError');
    const refused = refusalOf(request, fault === 'wrong_bytes' ? Buffer.from(`${body}!`) : body);
    if (refused) return refuse(response, ...refused);
    if (bucket !== 'lake') return refuse(response, 404, 'NoSuchBucket');
    const key = path.join('/');
    if (fault === 'kept') {
      put(key, request, body);
      return void request.socket.destroy();
    }
    response.setHeader('date', new Date(given.now()).toUTCString());
    if (request.method === 'PUT')
      return put(key, request, body) ? void response.end() : refuse(response, 412, 'PreconditionFailed');
    if (request.method === 'DELETE') {
      given.objects.delete(key);
      return void response.writeHead(204).end();
    }
    if (key === '') return list(url.searchParams, response);
    const found = given.objects.get(key);
    if (!found) return refuse(response, 404, 'NoSuchKey');
    response.setHeader('etag', etagOf(found));
    if (found.sha256) response.setHeader('x-amz-meta-sha256', found.sha256);
    // As some servers do, while the client still writes what came.
    response.setHeader('connection', 'close');
    response.end(found.body);
  }

  function refusalOf({ headers }: IncomingMessage, body: Buffer): [number, string] | null {
    if (!headers.authorization?.startsWith(`AWS4-HMAC-SHA256 Credential=${ACCESS_KEY}/`))
      return [403, 'InvalidAccessKeyId'];
    if (headers['x-amz-security-token'] === 'expired') return [400, 'ExpiredToken'];
    const [, date = '', time = ''] = /^(\d{8})T(\d{6})Z$/.exec(String(headers['x-amz-date'])) ?? [];
    const at = Date.parse(`${date.replace(/(....)(..)/, '$1-$2-')}T${time.replace(/(..)(..)/, '$1:$2:')}Z`);
    if (!(Math.abs(given.now() - at) < SKEW_MS)) return [403, 'RequestTimeTooSkewed'];
    const sha256 = createHash('sha256').update(body).digest('hex');
    return sha256 === headers['x-amz-content-sha256'] ? null : [400, 'XAmzContentSHA256Mismatch'];
  }

  function put(key: string, { headers }: IncomingMessage, body: Buffer): boolean {
    const found = given.objects.get(key);
    const isForbidden = headers['if-none-match'] === '*' && found !== undefined;
    const isOther = headers['if-match'] !== undefined && headers['if-match'] !== (found && etagOf(found));
    if (given.isConditional && (isForbidden || isOther)) return false;
    const sha256 = headers['x-amz-meta-sha256']?.toString();
    given.objects.set(key, { body, modified: new Date(given.now()), sha256 });
    return true;
  }

  function list(query: URLSearchParams, response: ServerResponse): void {
    const after = query.get('continuation-token')?.replace(/^after&/, '') ?? '';
    const all = [...given.objects].sort(([a], [b]) => (a < b ? -1 : 1));
    const left = all.filter(([key]) => key.startsWith(query.get('prefix') ?? '') && key > after);
    const page = left.slice(0, pageSize);
    const contents = page.map(
      ([key, { modified }]) =>
        `<Contents><Key>${encodeURIComponent(key)}</Key><LastModified>${modified.toISOString()}</LastModified></Contents>`,
    );
    const isCut = left.length > page.length;
    const next = isCut ? `<NextContinuationToken>after&amp;${page.at(-1)?.[0]}</NextContinuationToken>` : '';
    const state = `<KeyCount>${page.length}</KeyCount><IsTruncated>${isCut}</IsTruncated>${next}`;
    const xml = `<?xml version="1.0"?>\n<ListBucketResult>${state}${contents.join('')}</ListBucketResult>`;
    response.end(given.listing(xml));
  }

  return given;
}

function etagOf({ body }: Stored): string {
  return `"${createHash('md5').update(body).digest('hex')}"`;
}

function refuse(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status).end(`<Error><Code>${code}</Code><Message>${SECRET}</Message></Error>`);
}

async function read(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}
