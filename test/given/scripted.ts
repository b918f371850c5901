import { text } from 'node:stream/consumers';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** A request, and the status that the world answers it with. */
export interface ScriptedCall {
  /** `POST /v1/…` */
  line: string;
  host: string;
  headers: FastifyRequest['headers'];
  /** As text, if the world has no such path. */
  body: unknown;
  status: number;
}

export interface ScriptedAnswer {
  /** Default 200. */
  status?: number;
  headers?: Record<string, string>;
  /** Default `{}`. */
  body?: string | object;
}

type Scripted = ScriptedAnswer | undefined;
export type Script = (call: ScriptedCall) => Scripted | Promise<Scripted>;

/** Makes a simulated service answer as a script does, where it returns anything, as late as it likes. */
export function scripted(script: Script): (app: FastifyInstance) => void {
  return (app) => {
    app.addHook('onSend', async ({ method, url, host, headers, body, raw }, reply, payload) => {
      const given = body ?? (await text(raw));
      const answer = await script({ line: `${method} ${url}`, host, headers, body: given, status: reply.statusCode });
      if (!answer) return payload;
      reply.code(answer.status ?? 200).headers(answer.headers ?? {});
      return typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body ?? {});
    });
  };
}
