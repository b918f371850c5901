import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { worldStore } from '../../src/app/demo/simulator/store.js';
import { buildServer } from '../../src/serve/api/http.js';
import { isIn, newWorld, worldNight } from './oracle.js';
import type { Plan } from './plan.js';

const NEW_TEXT = 'Submitted, indexed and served';

const listing = z.looseObject({ urls: z.array(z.record(z.string(), z.unknown())) });
const message = z.object({
  notices: z.array(z.object({ id: z.string(), kind: z.string(), website_id: z.string().nullable() })),
});

/** A notice as it arrived. */
export interface Notice {
  id: string;
  kind: string;
  website: string | null;
}

/** What a household talks to, on loopback: the service with its faults, and the webhook. */
export class Surroundings {
  readonly notices: Notice[] = [];
  /** Reports that were answered, by night of the world and URL. */
  readonly reports = new Map<string, number>();
  /** The notices of the last message, while nothing has come after them: a process that is killed now may not know that they were taken. */
  justTaken: string[] = [];
  /** Called when a request has been answered or a message was taken. */
  onEvent: (event: 'request' | 'message') => void = () => {};
  token = 'first-token';
  readonly #world;
  #servers: (FastifyInstance | Server)[] = [];

  constructor(
    private readonly plan: Plan,
    seed: number,
    private readonly now: () => number,
  ) {
    this.#world = newWorld(plan, seed);
  }

  /** @returns the base address of the service and the address of the webhook */
  async start(): Promise<{ service: string; webhook: string }> {
    const store = worldStore(this.#world, [{ token: 'any', label: 'year', websites: 'all' }]);
    const app = buildServer(
      { ...store, findKey: async (token) => (this.#isValid(token) ? store.findKey('any') : null) },
      { setup: (server) => this.#befall(server) },
    );
    const webhook = this.#webhook();
    this.#servers = [app, webhook];
    const service = await app.listen({ host: '127.0.0.1', port: 0 });
    await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', resolve));
    return { service, webhook: `http://127.0.0.1:${(webhook.address() as AddressInfo).port}/` };
  }

  async close(): Promise<void> {
    for (const server of this.#servers) await server.close();
  }

  #isValid(token: string): boolean {
    return token === this.token && !isIn(this.plan.revoked, this.now());
  }

  #befall(app: FastifyInstance): void {
    app.addHook('onRequest', async (request, reply) => {
      const now = this.now();
      reply.header('date', new Date(now).toUTCString());
      this.#world.advance(worldNight(this.plan, now) - this.#world.night);
      const outage = this.plan.outages.find((span) => isIn(span, now));
      if (!outage) return;
      // Some outages are a proxy that answers, others are no answer at all.
      if (this.plan.outages.indexOf(outage) % 2 === 0) return reply.code(503).send({});
      reply.hijack();
      request.raw.socket.destroy();
    });
    app.addHook('onSend', async (request, reply, payload) => {
      const isWhole = reply.statusCode === 200 && typeof payload === 'string';
      return isWhole ? this.#inVersion(request.url, payload) : payload;
    });
    app.addHook('onResponse', async (request, reply) => {
      if (reply.statusCode === 200) this.#count(new URL(request.url, 'http://service'));
    });
  }

  #count({ searchParams }: URL): void {
    const page = searchParams.get('url');
    const key = `${this.#world.night} ${page}`;
    if (page !== null) this.reports.set(key, (this.reports.get(key) ?? 0) + 1);
    this.justTaken = [];
    this.onEvent('request');
  }

  /** An answer as the service's interface has it at this time. */
  #inVersion(url: string, body: string): string {
    const now = this.now();
    const isReport = url.includes('/url-report');
    const changed = (record: Record<string, unknown>, at = 0): Record<string, unknown> => ({
      ...record,
      ...(now >= this.plan.newFields ? { [isReport ? 'render_score' : 'page_group']: 'A' } : {}),
      ...(now >= this.plan.newTexts && record['index_coverage_state'] === 'Submitted and indexed'
        ? { index_coverage_state: NEW_TEXT }
        : {}),
      ...(isIn(this.plan.broken, now) ? { service_link: undefined } : {}),
      ...(isIn(this.plan.broken, now) && !isReport && at === 0 ? { index_summary: 5 } : {}),
    });
    const answer: unknown = JSON.parse(body);
    if (isReport) return JSON.stringify(changed(z.record(z.string(), z.unknown()).parse(answer)));
    const window = listing.safeParse(answer);
    if (!window.success) return body;
    const skip = Number(new URL(url, 'http://service').searchParams.get('skip') ?? 0);
    return JSON.stringify({ ...window.data, urls: window.data.urls.map((entry, at) => changed(entry, skip + at)) });
  }

  #webhook(): Server {
    return createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      request.on('end', () => {
        if (isIn(this.plan.deaf, this.now())) {
          response.writeHead(503).end();
          return;
        }
        const { notices } = message.parse(JSON.parse(body));
        this.notices.push(...notices.map(({ id, kind, website_id: website }) => ({ id, kind, website })));
        this.justTaken = notices.map(({ id }) => id);
        response.writeHead(204).end();
        this.onEvent('message');
      });
    });
  }
}
