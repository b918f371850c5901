import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../../../base/config/schema.js';
import { Failure, messageOf } from '../../../base/exit.js';
import { codeOf } from '../../../base/storage/durable.js';

/** How long requests in flight may take when the service stops. */
const GRACE_MS = 3000;
/** Time to send the errors of requests that were interrupted then. */
const LAST_WORDS_MS = 500;
const IDLE_CHECK_MS = 20;

/** The last known answer at once, while a newer one is read; only the first one is waited for. */
export function known<T>(read: () => Promise<T>): () => Promise<T> {
  let last: Promise<T> | null = null;
  return () => {
    const next = read();
    last ??= next;
    const settled = () => {
      last = next;
    };
    next.then(settled, settled);
    return last;
  };
}

/** @throws Failure if it cannot listen on the address, with the remedy */
export async function listen(
  app: FastifyInstance,
  { host, port }: Pick<Config['service'], 'host' | 'port'>,
): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (cause) {
    throw new Failure(`cannot listen on ${host}, port ${port}: ${reasonOf(cause)}`, { cause });
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process listens there. End it, or choose another port; --port 0 picks a free one',
  EACCES: 'this user may not. Choose a port from 1024 on, such as --port 8090',
  EADDRNOTAVAIL: 'this machine has no such address. Choose another with --host',
  ENOTFOUND: 'there is no such host. Choose an address of this machine with --host',
};

/** Why a server cannot listen on an address, and what to do. */
export function reasonOf(cause: unknown): string {
  return REASONS[codeOf(cause)] ?? messageOf(cause);
}

/** Closes the server: idle connections at once, those with a request in flight after at most a grace period. */
export async function drained(app: FastifyInstance, interrupt: () => void): Promise<void> {
  const { server } = app;
  const closed = once(server, 'close');
  server.close();
  const closing = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
  await Promise.race([closed, delay(GRACE_MS, undefined, { ref: false })]);
  interrupt();
  await Promise.race([closed, delay(LAST_WORDS_MS, undefined, { ref: false })]);
  clearInterval(closing);
}
