import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { duration } from '../../base/observe/format.js';
import { urlOf } from '../../base/url.js';
import type { KeyDetails } from '../../source/contract/key.js';
import { networkOf } from '../api/addresses.js';
import { ServiceError } from '../api/errors.js';
import { type Allowance, type Limiter, limiterOf } from '../api/rate-limit.js';

const SESSION_COOKIE = 'indexhouse_session';
/** Says only that the form was ours. */
const FORM_COOKIE = 'indexhouse_form';
const MOST_TOKEN_CHARACTERS = 4000;
const SESSION_SECONDS = 12 * 60 * 60;
const ID_BYTES = 32;
/** Per network of the client. */
const WRONG_KEYS_A_MINUTE = 10;
/** Per key: a script that signs in again and again replaces its own oldest sessions, and no others. */
const MOST_SESSIONS_OF_A_KEY = 100;

const signInForm = z.object({ token: z.string().max(MOST_TOKEN_CHARACTERS), to: z.string().optional() });

interface Session {
  key: string;
  token: string;
  /** Milliseconds since 1970. */
  endsAt: number;
}

/**
 * Sign-in with an API key, the session that follows, and sign-out. Sessions are held in memory, so a restart signs
 * everybody out. The browser gets a random id and never the token; the token stays here because a key that is revoked or
 * loses a website must do so for open sessions too.
 */
export class Authentication {
  readonly #sessions = new Map<string, Session>();
  readonly #wrongKeys: Limiter;

  /**
   * @param base path of the dashboard: its cookies go nowhere else
   * @param now milliseconds since 1970
   */
  constructor(
    private readonly findKey: (token: string) => Promise<KeyDetails | null>,
    private readonly base: string,
    private readonly now: () => number,
  ) {
    this.#wrongKeys = limiterOf(WRONG_KEYS_A_MINUTE, now);
  }

  /** The key that a request is signed in with, as it is now; null if signed out. */
  async keyOf(request: FastifyRequest): Promise<KeyDetails | null> {
    const session = this.#sessions.get(cookieOf(request, SESSION_COOKIE) ?? '');
    return session && this.now() < session.endsAt ? this.findKey(session.token) : null;
  }

  /** Call it with each response that contains a form. */
  handOut(request: FastifyRequest, reply: FastifyReply): void {
    this.#setCookie(request, reply, { name: FORM_COOKIE, value: '1', maxAge: SESSION_SECONDS });
  }

  /**
   * Opens a session for the key of a form.
   *
   * @returns where to redirect to, and the key; null if it is unknown
   * @throws ServiceError 400, 403 for another site's form, 429 after too many wrong keys
   */
  async signIn(request: FastifyRequest, reply: FastifyReply): Promise<{ to: string; key: KeyDetails | null }> {
    this.#refuseForeign(request);
    const form = signInForm.safeParse(request.body);
    if (!form.success) throw new ServiceError(400, 'An API key is needed to sign in.');
    const to = inside(form.data.to, this.base);
    const token = form.data.token.trim();
    const client = networkOf(request.ip);
    refuseGuesses(this.#wrongKeys.peek(client));
    const key = token === '' ? null : await this.findKey(token);
    if (key === null) {
      refuseGuesses(this.#wrongKeys.take(client));
      return { to, key };
    }
    this.#close(request);
    for (const [id, { endsAt }] of this.#sessions) if (endsAt <= this.now()) this.#sessions.delete(id);
    const [oldest, ...others] = [...this.#sessions].filter(([, session]) => session.key === key._id);
    if (oldest && others.length + 1 >= MOST_SESSIONS_OF_A_KEY) this.#sessions.delete(oldest[0]);
    const value = randomBytes(ID_BYTES).toString('base64url');
    this.#sessions.set(value, { key: key._id, token, endsAt: this.now() + SESSION_SECONDS * 1000 });
    this.#setCookie(request, reply, { name: SESSION_COOKIE, value, maxAge: SESSION_SECONDS });
    return { to, key };
  }

  /** @throws ServiceError 403 for another site's form */
  signOut(request: FastifyRequest, reply: FastifyReply): void {
    this.#refuseForeign(request);
    this.#close(request);
    this.#setCookie(request, reply, { name: SESSION_COOKIE, value: '', maxAge: 0 });
  }

  #refuseForeign(request: FastifyRequest): void {
    const hasOwnCookie = [SESSION_COOKIE, FORM_COOKIE].some((name) => cookieOf(request, name) !== null);
    if (!isOwnForm(request, hasOwnCookie)) throw new ServiceError(403, 'This form was sent from another site.');
  }

  #close(request: FastifyRequest): void {
    this.#sessions.delete(cookieOf(request, SESSION_COOKIE) ?? '');
  }

  /** No script can read the cookies, and other sites send them only when one of their links is followed. */
  #setCookie(request: FastifyRequest, reply: FastifyReply, cookie: { name: string; value: string; maxAge: number }) {
    const { name, value, maxAge } = cookie;
    const secure = request.protocol === 'https';
    void reply.setCookie(name, value, { path: this.base, maxAge, httpOnly: true, sameSite: 'lax', secure });
  }
}

/** The cookie's value; null without it. Parsed here, because a request may be refused before a hook has parsed it. */
function cookieOf({ server, headers }: FastifyRequest, name: string): string | null {
  return server.parseCookie(headers.cookie ?? '')[name] ?? null;
}

function refuseGuesses({ allowed, waitSeconds }: Allowance): void {
  if (allowed) return;
  const message = `Too many wrong keys: try again in ${duration(waitSeconds * 1000)}.`;
  throw new ServiceError(429, message, { 'retry-after': String(waitSeconds) });
}

/** A path within the dashboard, whatever was requested: signing in never redirects to another site. */
function inside(to: string | undefined, base: string): string {
  const home = `${base}/`;
  const { origin, pathname = '', search = '' } = urlOf(to ?? '', 'http://here') ?? {};
  return to !== undefined && origin === 'http://here' && pathname.startsWith(home) ? pathname + search : home;
}

/**
 * Whether a form was sent by one of the dashboard's own pages, as far as the browser says. An `Origin` other than `null`
 * must be ours.
 *
 * Browsers send `Origin: null` from pages without a referrer, as ours are. Then `Sec-Fetch-Site` decides, which they send
 * only over TLS or on loopback; elsewhere one of our cookies is required, which no other site's form can send. A request
 * without any of these headers does not come from a browser.
 */
function isOwnForm({ headers, host }: FastifyRequest, hasOwnCookie: boolean): boolean {
  const { origin } = headers;
  const isOurs = urlOf(origin ?? '')?.host === host.toLowerCase();
  if (origin !== undefined && origin !== 'null' && !isOurs) return false;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  return origin !== 'null' || hasOwnCookie;
}
