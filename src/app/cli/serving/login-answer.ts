import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { urlOf } from '../../../base/url.js';

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  connection: 'close',
};
const page = (text: string) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>indexhouse</title><main><h1>indexhouse</h1><p>${text}</p></main></html>`;
const DONE = page('Google answered. You can close this window: the terminal says how it went.');
const STRANGE = page('This is not the answer that indexhouse waits for.');

/** Waits for Google's answer on a free port of 127.0.0.1. */
export async function listenForAnswer() {
  // Any website could send a browser here: only Google learns the state.
  const state = randomBytes(24).toString('base64url');
  const server = createServer();
  const answer = new Promise<URLSearchParams>((resolve) => {
    server.on('request', ({ method, url = '' }, response) => {
      const asked = urlOf(url, 'http://127.0.0.1')?.searchParams;
      const isOurs = method === 'GET' && asked?.get('state') === state;
      response.writeHead(isOurs ? 200 : 400, HEADERS).end(isOurs ? DONE : STRANGE);
      if (isOurs) resolve(asked);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { redirectUri: `http://127.0.0.1:${port}`, state, answer, close };
}

/**
 * The address that a user pastes, or the name of the error that Google shows instead; null at the end of the input.
 *
 * @param waiting `over` ends the wait; `onStrange` is called for each line that is neither
 */
export async function pastedAnswer(
  input: Readable,
  state: string,
  { over, onStrange }: { over: AbortSignal; onStrange: () => void },
): Promise<URLSearchParams | null> {
  const lines = createInterface({ input, signal: over });
  try {
    for await (const line of lines) {
      const answer = urlOf(line.trim())?.searchParams;
      if (answer?.get('state') === state) return answer;
      const error = /[a-z]+(?:_[a-z]+)+/.exec(answer?.get('error') ?? (answer ? '' : line))?.[0];
      if (error) return new URLSearchParams({ error });
      onStrange();
    }
    return null;
  } finally {
    lines.close();
  }
}
