import type { FastifyInstance } from 'fastify';
import { DASHBOARD_STYLE } from './style.js';

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#2f6fb3" d="M1 9h4v6H1zM6 5h4v10H6zM11 1h4v14h-4z"/></svg>`;

/** No script, no style but the dashboard's own, no frame around it, no form to elsewhere. */
const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; " +
  "base-uri 'none'; frame-ancestors 'none'";

/** Headers of every response of the dashboard. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** The dashboard's own files. They contain nothing about any website, so they need no key. */
export function addAssets(scope: FastifyInstance): void {
  scope.get('/assets/style.css', async (_request, reply) =>
    reply.type('text/css; charset=utf-8').send(DASHBOARD_STYLE),
  );
  scope.get('/assets/icon.svg', async (_request, reply) => reply.type('image/svg+xml').send(ICON));
}
