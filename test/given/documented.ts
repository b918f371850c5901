import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import * as formats from 'ajv-formats';
import { expect } from 'vitest';
import { z } from 'zod';

const answerSchema = z.looseObject({ content: z.record(z.string(), z.unknown()) });
const documentSchema = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), z.looseObject({ responses: z.record(z.string(), answerSchema) }))),
});
type Document = z.infer<typeof documentSchema>;

/** Holds answers against an OpenAPI document: status, content type and the body's schema. */
export class Documented {
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true });
  readonly #validators = new Map<string, ValidateFunction>();

  private constructor(private readonly document: Document) {
    formats.default.default(this.#ajv);
    this.#ajv.addSchema(document, 'api');
  }

  static async of(baseUrl: string): Promise<Documented> {
    return new Documented(documentSchema.parse(await (await fetch(`${baseUrl}/openapi.json`)).json()));
  }

  /** @param path below the base address, with its query */
  check(path: string, answer: Response, body: unknown): void {
    const name = this.#nameOf(path);
    // What there is no operation for has no description either.
    if (name === undefined) {
      expect(answer.status).toBe(404);
      return;
    }
    const responses = this.document.paths[name]?.['get']?.responses ?? {};
    const status = answer.status === 200 ? '200' : `${Math.floor(answer.status / 100)}XX`;
    const type = (answer.headers.get('content-type') ?? '').split(';')[0] ?? '';
    expect(Object.keys(responses[status]?.content ?? {}), `${name} may answer ${answer.status}`).toEqual([type]);
    const pointer = ['paths', name, 'get', 'responses', status, 'content', type, 'schema'];
    const validate = this.#validator(`api#/${pointer.map(escaped).join('/')}`);
    expect([validate(body), validate.errors]).toEqual([true, null]);
  }

  /** Compiled once: that takes as long as a hundred answers. */
  #validator($ref: string): ValidateFunction {
    const known = this.#validators.get($ref);
    if (known) return known;
    const compiled = this.#ajv.compile({ $ref });
    this.#validators.set($ref, compiled);
    return compiled;
  }

  #nameOf(path: string): string | undefined {
    const bare = path.split('?')[0] ?? '';
    return Object.keys(this.document.paths).find((name) =>
      new RegExp(`^${name.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(bare),
    );
  }
}

function escaped(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));
}
