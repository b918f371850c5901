import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import * as formats from 'ajv-formats';
import { expect } from 'vitest';
import { z } from 'zod';

const answerSchema = z.looseObject({
  $ref: z.string().optional(),
  headers: z.record(z.string(), z.unknown()).default({}),
  content: z.record(z.string(), z.unknown()).default({}),
});
const documentSchema = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), z.looseObject({ responses: z.record(z.string(), answerSchema) }))),
  components: z.looseObject({ responses: z.record(z.string(), answerSchema) }),
});
type Document = z.infer<typeof documentSchema>;

/** Headers that a document need not name: they are those of every message, or stand for themselves. */
const HEADERS_OF_ANY = new Set(
  'connection content-encoding content-length content-type date keep-alive transfer-encoding x-content-type-options'.split(
    ' ',
  ),
);

/** Holds answers against an OpenAPI document: status, headers, content type and the body's schema. */
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
  check(method: string, path: string, answer: Response, body: unknown): void {
    const name = this.#nameOf(path);
    // What there is no operation for has no description either.
    if (name === undefined) {
      expect(answer.status).toBe(404);
      return;
    }
    const described = this.document.paths[name]?.[method.toLowerCase()]?.responses[answer.status];
    expect(described, `${method} ${name} may answer ${answer.status}`).toBeDefined();
    const shared = described?.$ref?.split('/').at(-1);
    const { headers = {}, content = {} } = (shared ? this.document.components.responses[shared] : described) ?? {};
    const own = ['paths', name, method.toLowerCase(), 'responses', String(answer.status)];
    const pointer = shared ? ['components', 'responses', shared] : own;
    const known = new Set([...Object.keys(headers).map((each) => each.toLowerCase()), ...HEADERS_OF_ANY]);
    expect([...answer.headers.keys()].filter((each) => !known.has(each))).toEqual([]);
    const type = (answer.headers.get('content-type') ?? '').split(';')[0] ?? '';
    if (answer.status !== 304) expect(Object.keys(content)).toContain(type);
    if (type !== 'application/json') return;
    const validate = this.#validator(`api#/${[...pointer, 'content', type, 'schema'].map(escaped).join('/')}`);
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
