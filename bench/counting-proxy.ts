import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Pool } from 'undici';

/** Headers that belong to one connection and not to the answer. */
const OF_THE_CONNECTION = new Set(['connection', 'keep-alive', 'transfer-encoding']);
const CONNECTIONS = 32;

/** One request as it passed: when it came, by this process's clock, what it asked for, and what it was answered. */
export interface Passed {
  at: number;
  path: string;
  status: number;
}

export interface CountingProxy {
  /** What goes in front of `/v1`. */
  url: string;
  passed: Passed[];
  stop(): Promise<void>;
}

/** Stands between one client and a service, passes everything on as it is, and notes each request. */
export async function startCountingProxy(target: string): Promise<CountingProxy> {
  const pool = new Pool(target, { connections: CONNECTIONS });
  const passed: Passed[] = [];
  const server = createServer((request, response) => {
    passOn(pool, request, response, passed).catch((error) => response.destroy(error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    passed,
    stop: async () => {
      server.closeAllConnections();
      await Promise.all([new Promise((resolve) => server.close(resolve)), pool.destroy()]);
    },
  };
}

async function passOn(pool: Pool, request: IncomingMessage, response: ServerResponse, passed: Passed[]): Promise<void> {
  const at = Date.now();
  const {
    url: path = '/',
    headers: { authorization = '' },
  } = request;
  const answer = await pool.request({ path, method: 'GET', headers: { authorization } });
  passed.push({ at, path, status: answer.statusCode });
  const headers = Object.entries(answer.headers).filter(([name]) => !OF_THE_CONNECTION.has(name));
  response.writeHead(answer.statusCode, Object.fromEntries(headers));
  response.end(Buffer.from(await answer.body.arrayBuffer()));
}
