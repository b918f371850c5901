import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createSocketServer } from 'node:net';
import { onTestFinished } from 'vitest';
import { createLogger } from '../../src/observe/log.js';
import { configFor } from '../given/warehouse.js';

export interface Got {
  path: string;
  body: string;
  headers: IncomingMessage['headers'];
}

/** Takes what channels send, on loopback, until the test ends. While `status` is no 2xx, it is down. */
export async function startReceiver() {
  const got: Got[] = [];
  const receiver = { url: '', got, status: 200, take: () => got.splice(0) };
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      got.push({ path: request.url ?? '', body, headers: request.headers });
      response.writeHead(receiver.status).end();
    });
  });
  const port = await new Promise<number>((resolve) =>
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : 0);
    }),
  );
  receiver.url = `http://127.0.0.1:${port}`;
  onTestFinished(() => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return receiver;
}

/** A mail server that takes everything, on loopback, until the test ends. */
export async function startMailServer(): Promise<{ url: string; mails: string[] }> {
  const mails: string[] = [];
  const server = createSocketServer((socket) => {
    let received = '';
    let inData = false;
    socket.on('error', () => {}).write('220 ready\r\n');
    socket.setEncoding('utf8').on('data', (text: string) => {
      received += text;
      for (;;) {
        const end = received.indexOf(inData ? '\r\n.\r\n' : '\r\n');
        if (end < 0) return;
        const part = received.slice(0, end);
        received = received.slice(end + (inData ? 5 : 2));
        if (inData) mails.push(part);
        const begins = !inData && part.toUpperCase() === 'DATA';
        inData = begins;
        socket.write(begins ? '354 go on\r\n' : '250 ok\r\n');
        if (part.toUpperCase() === 'QUIT') socket.end();
      }
    });
  });
  const port = await new Promise<number>((resolve) =>
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : 0);
    }),
  );
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { url: `smtp://127.0.0.1:${port}`, mails };
}

/** A configuration with these channels and rules, and a log that the test reads. */
export function telling(warehouse: string, channels: object[], rules: object = {}) {
  const lines: Record<string, unknown>[] = [];
  // Entries and reports of tests lack fields, which is drift of the first night.
  const sections = { notify: { channels, drift: false, ...rules } };
  const config = configFor({ baseUrl: 'http://127.0.0.1:9', warehouse, sections });
  const log = createLogger({ destination: { write: (line) => lines.push(JSON.parse(line)) }, pretty: false });
  const warnings = () => lines.filter(({ level }) => level === 'warn').map(({ msg }) => String(msg));
  return { config, log, warnings };
}
