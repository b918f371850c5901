import { createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { listenOnLoopback } from './loopback.js';

interface RawRequest {
  /** Path and query as they arrived. */
  target: string;
  head: string;
  /** From 1: how many requests this server has got. */
  number: number;
}

interface RawServer {
  url: string;
  requests: RawRequest[];
}

/** What to write to the socket; a text is written and the connection closed. */
export type RawAnswer = (request: RawRequest, socket: Socket) => string | Buffer | undefined;

/** A server that writes bytes as it likes, on loopback, until the test ends. */
export async function startRawServer(answer: RawAnswer): Promise<RawServer> {
  const requests: RawRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      if (!received.includes('\r\n\r\n')) return;
      const [head = ''] = received.split('\r\n\r\n');
      received = '';
      const request = { head, target: head.split(' ')[1] ?? '', number: requests.length + 1 };
      requests.push(request);
      const text = answer(request, socket);
      if (text !== undefined) socket.end(text);
    });
  });
  const { url, close } = await listenOnLoopback(server);
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await close();
  });
  return { url, requests };
}

/** An informational answer, after which a client waits for the final one. */
export const EARLY_HINTS = 'HTTP/1.1 103 Early Hints\r\n\r\n';

/** Writes the same piece again and again, until the connection ends. */
export function trickle(socket: Socket, piece: string): undefined {
  const timer = setInterval(() => socket.write(piece), 20);
  socket.on('close', () => clearInterval(timer));
}

/** One whole HTTP answer. */
export function http(status: number, body: string | Buffer = '', headers: Record<string, string> = {}): Buffer {
  const bytes = Buffer.from(body);
  const lines = Object.entries({ 'content-length': String(bytes.length), connection: 'close', ...headers });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} Some reason\r\n${head}\r\n`), bytes]);
}
