import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { KeyDetails } from '../../contract/key.js';
import { ServiceError } from '../../service/errors.js';
import { Attempts } from './attempts.js';
import { cookieOf, setCookie } from './cookies.js';
import { isOwnForm } from './own-form.js';
import { SESSION_SECONDS, Sessions } from './sessions.js';

const SESSION_COOKIE = 'indexhouse_session';
/** Says only that the form was ours. */
const FORM_COOKIE = 'indexhouse_form';
const MOST_TOKEN_CHARACTERS = 4000;

export interface DoorOptions {
  findKey(token: string): Promise<KeyDetails | null>;
  /** Milliseconds since 1970. */
  now: () => number;
  /** Path of the dashboard: its cookies go nowhere else. */
  base: string;
  secureCookie: boolean;
}

const signInForm = z.object({ token: z.string().max(MOST_TOKEN_CHARACTERS), to: z.string().optional() });

/** Who may come in: sign-in with an API key, the session that follows it, and its end. */
export class Door {
  readonly #sessions: Sessions;
  readonly #attempts: Attempts;

  constructor(private readonly options: DoorOptions) {
    this.#sessions = new Sessions(options.now);
    this.#attempts = new Attempts(options.now);
  }

  /** The key that a request is signed in with, as it is now; null without one. */
  async keyOf(request: FastifyRequest): Promise<KeyDetails | null> {
    const id = cookieOf(request, SESSION_COOKIE);
    const token = id === null ? null : this.#sessions.tokenOf(id);
    return token === null ? null : this.options.findKey(token);
  }

  /** To be called with the form that is to be sent back. */
  handOut(reply: FastifyReply): void {
    void reply.header('set-cookie', this.#cookie(FORM_COOKIE, '1', SESSION_SECONDS));
  }

  /**
   * Opens a session for the key of a form.
   *
   * @returns where to go from here, or null for a key that is not known
   * @throws ServiceError 400, 403 for another site's form, 429 after too many wrong keys
   */
  async signIn(request: FastifyRequest, reply: FastifyReply): Promise<string | null> {
    this.#refuseForeign(request);
    const form = signInForm.safeParse(request.body);
    if (!form.success) throw new ServiceError(400, 'An API key is needed to sign in.');
    const token = form.data.token.trim();
    const attempt = this.#attempts.begin(request.ip);
    if (!attempt.allowed) {
      const headers = { 'retry-after': String(attempt.retryAfterS) };
      throw new ServiceError(429, `Too many wrong keys: try again in ${attempt.retryAfterS} seconds.`, headers);
    }
    if (token === '' || (await this.options.findKey(token)) === null) return null;
    this.#attempts.succeeded(request.ip);
    this.#close(request);
    void reply.header('set-cookie', this.#cookie(SESSION_COOKIE, this.#sessions.open(token), SESSION_SECONDS));
    return inside(form.data.to, this.options.base);
  }

  /** @throws ServiceError 403 for another site's form */
  signOut(request: FastifyRequest, reply: FastifyReply): void {
    this.#refuseForeign(request);
    this.#close(request);
    void reply.header('set-cookie', this.#cookie(SESSION_COOKIE, '', 0));
  }

  #refuseForeign(request: FastifyRequest): void {
    const hasOwnCookie = [SESSION_COOKIE, FORM_COOKIE].some((name) => cookieOf(request, name) !== null);
    if (!isOwnForm(request, hasOwnCookie)) throw new ServiceError(403, 'This form was sent from another site.');
  }

  #close(request: FastifyRequest): void {
    const id = cookieOf(request, SESSION_COOKIE);
    if (id !== null) this.#sessions.close(id);
  }

  #cookie(name: string, value: string, maxAgeSeconds: number): string {
    const { base, secureCookie } = this.options;
    return setCookie({ name, value, path: base, maxAgeSeconds, secure: secureCookie });
  }
}

/** A path within the dashboard, whatever was asked for: nobody is led elsewhere by signing in. */
function inside(to: string | undefined, base: string): string {
  const home = `${base}/`;
  if (to === undefined || !URL.canParse(to, 'http://here')) return home;
  const { origin, pathname, search } = new URL(to, 'http://here');
  return origin === 'http://here' && pathname.startsWith(home) ? pathname + search : home;
}
