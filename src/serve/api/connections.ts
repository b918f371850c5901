import { createServer, type RequestListener, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { errorBody } from './errors.js';

/** A page URL of 2,000 characters outside ASCII takes 18,000 bytes percent-encoded; Node's default is 16 KiB in all. */
const MAX_HEADER_BYTES = 65_536;

/** How long a client may take, in milliseconds, and how many connections it may hold. */
export const CONNECTION_LIMITS = {
  /** From the first byte of a request, or from the start of the connection, to the end of its headers. */
  headersMs: 15_000,
  /** The same, to the end of its body. */
  requestMs: 30_000,
  /** Without reading any of a pending answer (Node may notice only at its second check), or after a refusal. */
  stalledMs: 30_000,
  /** Between an answer and the next request. */
  keepAliveMs: 72_000,
  /** How often the first two are checked. */
  checkMs: 5000,
  /** Connections that one address may have open. */
  perAddress: 256,
};

export type ConnectionLimits = typeof CONNECTION_LIMITS & {
  /** Whether an address connects for many clients, so that `perAddress` does not apply. */
  isProxy: (address: string) => boolean;
};

/** A server that no client can hold a connection to forever, and that answers even unreadable requests with an error. */
export function limitedServer(handler: RequestListener, limits: ConnectionLimits): Server {
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      connectionsCheckingInterval: limits.checkMs,
      keepAliveTimeout: limits.keepAliveMs,
      // Node's own refusal has no body.
      requireHostHeader: false,
    },
    handler,
  );
  limitConnections(server, limits);
  const latest = latestAnswers(server);
  dropStalled(server, latest, limits.stalledMs);
  answerMalformed(server, latest, limits.stalledMs);
  server.on('connect', (_request, socket) => refuse(socket, 405, limits.stalledMs));
  server.on('checkExpectation', (_request, response: ServerResponse) => {
    const body = JSON.stringify(errorBody(417, 'The only supported expectation is 100-continue.'));
    response.writeHead(417, RAW_HEADERS).end(body);
  });
  return server;
}

function limitConnections(server: Server, { perAddress, isProxy }: ConnectionLimits): void {
  const open = new Map<string, number>();
  server.on('connection', (socket) => {
    const address = socket.remoteAddress;
    if (address === undefined || isProxy(address)) return;
    const count = (open.get(address) ?? 0) + 1;
    if (count > perAddress) {
      socket.end(rawAnswer(429, 'Too many connections from this address.'));
      socket.destroySoon();
      return;
    }
    open.set(address, count);
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left === 0) open.delete(address);
      else open.set(address, left);
    });
  });
}

type LatestAnswers = WeakMap<object, ServerResponse>;

/** The answer to the newest request of each connection; earlier ones are done, or will be written before it. */
function latestAnswers(server: Server): LatestAnswers {
  const latest: LatestAnswers = new WeakMap();
  server.prependListener('request', (request, response) => void latest.set(request.socket, response));
  return latest;
}

/**
 * Ends a connection whose client does not read its answer, or sends no further request. Not one on which our answer
 * takes long, nor one whose request takes the client long, which gets a 408.
 */
function dropStalled(server: Server, latest: LatestAnswers, stalledMs: number): void {
  server.setTimeout(stalledMs, (socket) => {
    if (socket.writableLength > 0 || latest.get(socket)?.writableFinished) socket.destroy();
  });
}

const STATUS_OF_CODE: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Answers on the bare socket what Node could not read as HTTP or did not get in time, because it reaches no route. */
function answerMalformed(server: Server, latest: LatestAnswers, stalledMs: number): void {
  const refused = new WeakSet<object>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (refused.has(socket)) return;
    refused.add(socket);
    const answer = latest.get(socket);
    const answerRaw = () => refuse(socket, STATUS_OF_CODE[error.code ?? ''] ?? 400, stalledMs);
    if (error.code === 'ECONNRESET' || (answer?.headersSent && !answer.req.complete)) socket.destroy();
    // The answer to the request before it comes first.
    else if (answer?.req.complete && !answer.writableFinished) answer.once('close', answerRaw);
    else answerRaw();
  });
}

/** Answers on the bare socket, and ends the connection for good: its client may keep its side open, and go on sending. */
function refuse(socket: Duplex, status: number, stalledMs: number): void {
  if (!socket.writable) return;
  const late = setTimeout(() => socket.destroy(), stalledMs).unref();
  // After CONNECT, nothing of Node's listens for errors any more, and a reset would end the process.
  socket.on('error', () => {}).once('close', () => clearTimeout(late));
  socket.end(rawAnswer(status));
}

const RAW_HEADERS = {
  'Content-Type': 'application/json; charset=utf-8',
  'X-Content-Type-Options': 'nosniff',
  Connection: 'close',
};

function rawAnswer(status: number, message = `${STATUS_CODES[status]}.`): string {
  const body = JSON.stringify(errorBody(status, message));
  const headers = { ...RAW_HEADERS, 'Content-Length': Buffer.byteLength(body) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`;
}
