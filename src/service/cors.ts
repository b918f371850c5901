import cors, { type FastifyCorsOptions } from '@fastify/cors';
import type { FastifyInstance, FastifyRequest } from 'fastify';

const ALLOWED: FastifyCorsOptions = {
  methods: ['GET', 'HEAD', 'POST'],
  allowedHeaders: ['Authorization', 'Content-Type', 'If-None-Match', 'If-Modified-Since'],
  exposedHeaders: ['ETag', 'Retry-After', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'],
  maxAge: 600,
  strictPreflight: false,
};

/** Lets pages of these origins, or of all (`*`), use the interface. The dashboard stays closed: it knows cookies. */
export function allowOrigins(app: FastifyInstance, origins: readonly string[], prefix: string): void {
  if (origins.length === 0) return;
  const isInterface = ({ url }: FastifyRequest): boolean =>
    url.startsWith(`${prefix}/v1`) || url.startsWith(`${prefix}/openapi.json`);
  void app.register(cors, {
    delegator: (request, callback) =>
      callback(null, isInterface(request) ? { ...ALLOWED, origin: [...origins] } : { origin: false }),
  });
}
