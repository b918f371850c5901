import type { Server as HttpServer } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Server } from 'node:net';

/** Lets a server listen on a free port of loopback. @returns its address, and what ends it and its connections */
export async function listenOnLoopback(
  server: Server | HttpServer | HttpsServer,
): Promise<{ url: string; close(): Promise<void> }> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      if ('closeAllConnections' in server) server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`, close };
}
