import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ServiceError } from './errors.js';

/**
 * Answers 404, or 405 with `Allow` where the path has other methods, before a body is read.
 *
 * @returns a function to call once the hooks that should see such requests, too, are added; routes may follow it
 */
export function refuseUnknown(app: FastifyInstance): () => void {
  const paths = new Map<string, { segments: string[]; methods: Set<string> }>();
  app.addHook('onRoute', ({ url, method }) => {
    if (url === '*') return;
    const known = paths.get(url) ?? { segments: url.split('/'), methods: new Set() };
    for (const each of [method].flat()) known.methods.add(each);
    paths.set(url, known);
  });
  const refusal = (request: FastifyRequest): ServiceError => {
    const segments = pathOf(request.url).split('/');
    const known = [...paths.values()].find((path) => isAt(path.segments, segments));
    if (!known) return new ServiceError(404, 'There is nothing at this path.');
    const allow = [...known.methods].sort().join(', ');
    return new ServiceError(405, `This path supports only ${allow}.`, { allow });
  };
  app.setNotFoundHandler((request) => Promise.reject(refusal(request)));
  return () => {
    app.addHook('onRequest', async (request) => {
      if (request.is404) throw refusal(request);
    });
  };
}

/** Refuses what a proxy in front might interpret differently. */
export function refuseAmbiguous(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ raw }) => {
    if (raw.httpVersion === '1.1' && raw.headers.host === undefined)
      throw new ServiceError(400, 'A Host header is required.');
    const names = raw.rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
    for (const name of ['host', 'authorization']) {
      if (names.indexOf(name) !== names.lastIndexOf(name)) throw new ServiceError(400, `Two ${name} headers.`);
    }
  });
}

/** The path of a target, which may be a whole address. */
function pathOf(target: string): string {
  return target.replace(/^https?:\/\/[^/?#]*/i, '').split(/[?#]/)[0] ?? '';
}

function isAt(pattern: string[], segments: string[]): boolean {
  if (pattern.length !== segments.length) return false;
  return pattern.every((part, at) => (part.startsWith(':') ? segments[at] !== '' : part === segments[at]));
}
