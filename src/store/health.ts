import type { FastifyInstance } from 'fastify';
import type { LiveReader } from './live-reader.js';

/**
 * Adds `/healthz`, which needs no key: whether everything that is asked for can be answered. A degraded service answers
 * what does not need the files that cannot be read, so both are a 200.
 */
export function addHealth(app: FastifyInstance, reader: LiveReader, prefix: string): void {
  app.get(`${prefix}/healthz`, async (_request, reply) => {
    reply.header('cache-control', 'no-store');
    const [websites, commits] = [await reader.websites(), await reader.markers()];
    const { unreadable } = reader;
    return {
      status: unreadable === 0 ? 'ok' : 'degraded',
      websites: websites.length,
      commits: commits.length,
      unreadable_files: unreadable,
    };
  });
}
