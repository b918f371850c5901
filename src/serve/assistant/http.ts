import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { urlOf } from '../../base/url.js';
import { admission, contextOf, type Interface, keyOf, type OnError } from '../api/admission.js';
import { ServiceError } from '../api/errors.js';
import { aborted } from '../store/question-queue.js';
import type { KeyClients } from './clients.js';
import { assistantServer } from './server.js';

const MOST_BODY_BYTES = 262_144;
const PASSED_ON = ['accept', 'content-type', 'mcp-protocol-version'] as const;

/**
 * Adds `/mcp`: the tools of the assistant for the websites of a key, as streamable HTTP without sessions. Each request is
 * one message, so that a rate limit counts what it costs.
 */
export function addAssistant(
  app: FastifyInstance,
  service: Interface,
  { clients, onError }: { clients: KeyClients; onError: OnError },
): void {
  const hooks = [refuseOtherOrigins, admission(service)];
  app.post('/mcp', { bodyLimit: MOST_BODY_BYTES, onRequest: hooks }, async (request, reply) => {
    if (Array.isArray(request.body)) throw new ServiceError(400, 'One message a request: batches are not supported.');
    const { signal } = contextOf(request, reply);
    const report = (error: unknown) => onError(error, request);
    const server = assistantServer(clients.clientOf(keyOf(request), signal), { onError: report });
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport);
    try {
      const handled = transport.handleRequest(webRequest(request), { parsedBody: request.body });
      const answer = await Promise.race([handled, aborted(signal)]);
      if (answer.status === 500) report(new Error(`the protocol's library answered: ${await answer.clone().text()}`));
      reply.code(answer.status).headers(Object.fromEntries(answer.headers));
      return reply.send(await answer.text());
    } finally {
      await server.close();
    }
  });
}

/** Web pages of other sites must not use a visitor's key. Programs send no `Origin`. */
async function refuseOtherOrigins({ headers, host }: FastifyRequest): Promise<void> {
  const { origin } = headers;
  if (origin === undefined || urlOf(origin)?.host === host) return;
  throw new ServiceError(403, 'Pages of other origins may not use this.');
}

/** Without the body, which Fastify has parsed already. */
function webRequest({ headers }: FastifyRequest): Request {
  const passed = PASSED_ON.flatMap((name): [string, string][] => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, value]] : [];
  });
  return new Request('http://localhost/mcp', { method: 'POST', headers: passed });
}
