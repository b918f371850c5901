import { z } from 'zod';
import { HttpAnswer } from '../../base/http/exchange.js';
import { counted } from '../../base/observe/format.js';
import { MINUTE_MS, realEffects } from '../../base/time.js';
import { issuesOf, jsonOf } from '../../base/validate.js';
import { Client, type Dialect, type Purpose, withOwnStatus } from '../client.js';
import { SourceError } from '../errors.js';
import { GOOGLE_AT_ONCE } from '../source.js';
import { excerpt, kindOf as kindOfStatus, type Message, MOST_WORDS, type Refused, Transport } from '../transport.js';
import { looksLikeHtml } from '../walk/coverage-window.js';
import { Access, type GoogleClientOptions } from './access.js';
import type { Credentials } from './credentials.js';
import { remedyFor } from './remedy.js';
import { NOT_GOOGLE } from './secret-exchange.js';

export const INSPECT = '/v1/urlInspection/index:inspect';
const ANALYTICS = '/searchAnalytics/query';
const PLACES = { baseUrl: 'google.endpoint', token: 'google.credentials' };
/** A 403 that is about the setup and no property, by what its body holds; a 400 for a project that does not exist. */
const SCOPE_MISSING = /SCOPE_INSUFFICIENT|insufficient authentication scopes/i;
const NO_PROJECT = /quota project|USER_PROJECT_DENIED|project '?[^']*'? not found or deleted/i;
const DISABLED = /SERVICE_DISABLED|accessNotConfigured|has not been used/i;
/** The project that such an answer names, by its number or id. */
const PROJECT = /\bproject(?:s\/|=| )(\d+|(?<=[/=])[a-z][\w-]+)/;
/** A 403 that is about a quota, by its reason. */
const QUOTA = /"reason":\s*"(user_?|daily_?)?(quota|(rate_?)?limit)_?exceeded/i;
/** Calls that are neither inspections nor search analytics, of one user. */
const OTHERS_PER_MINUTE = 200;

const INSPECTIONS = 'inspections of';

/** A 403 without a reason passes in a few seconds, or it is about a page, or else about the permission. */
const PRESSURE = { pauseMs: 5_000, attempts: 12, closesAfter: Number.POSITIVE_INFINITY };

/** What a call counts for: those of one `quota` share its pace. */
interface Kind extends Pick<Dialect, 'pressure'> {
  quota: string;
  perMinute: number;
  /** In minutes, otherwise as `Dialect` has them. */
  waits: readonly number[];
}

function kindOf(path: string, property: string): Kind {
  const quota = 'lists of properties and sitemaps';
  const others = { quota, perMinute: OTHERS_PER_MINUTE, waits: [1], pressure: PRESSURE };
  const own = { ...others, perMinute: Number.POSITIVE_INFINITY };
  if (path === INSPECT)
    return { ...own, quota: `${INSPECTIONS} ${property}`, pressure: { ...PRESSURE, attempts: 1, closesAfter: 12 } };
  // Google counts its load over a minute, ten minutes and a day.
  if (path.endsWith(ANALYTICS)) return { ...own, quota: `search analytics of ${property}`, waits: [1, 5, 10] };
  return others;
}

const errorSchema = z.looseObject({ error: z.looseObject({ status: z.string().default(''), message: z.string() }) });

export interface CallOptions {
  body?: object;
  /** Whose quota it uses; empty if it is about no property. */
  property: string;
  purpose: Purpose;
}

/**
 * Search Console as one account sees it. Everything that uses the account goes through here: the token belongs to it,
 * and each property has a pace and a day of its own. Google refuses the minute and the day with the same words. So
 * after a refusal all calls of the property hold still for a minute, and if the one that goes first then is refused,
 * too, it is the day.
 */
export class GoogleClient {
  readonly #transport: Transport;
  readonly #clients = new Map<string, Client>();
  #known: Access | null = null;

  constructor(private readonly options: GoogleClientOptions) {
    const { google, timeout } = options;
    // One for all properties, which so stay far below what a project may send.
    this.#transport = new Transport({ baseUrl: google.endpoint, places: PLACES, timeout, connections: GOOGLE_AT_ONCE });
  }

  /**
   * The text of a 200 answer, with secrets masked.
   *
   * @param path below the endpoint
   * @throws SourceError for any other outcome, after the retries that may help: `unauthorized` if no other call can
   *   succeed either, `paused` if the property's day is spent; `Stopped`, `TooLate`
   */
  call(method: 'GET' | 'POST', path: string, { body, property, purpose }: CallOptions): Promise<string> {
    const message = { method, path, ...(body ? { body: JSON.stringify(body) } : {}) };
    const kind = kindOf(path, property);
    const client = this.#clients.get(kind.quota) ?? this.#clientFor(kind);
    this.#clients.set(kind.quota, client);
    return client.send(message, purpose);
  }

  /** The time by Google's clock, in milliseconds since 1970. */
  get now(): number {
    return (this.options.effects ?? realEffects).now() + (this.clockAhead ?? 0);
  }

  /** By how many milliseconds Google's clock was ahead in its first answer; null before that. */
  get clockAhead(): number | null {
    return [...this.#clients.values()].find(({ clockAhead }) => clockAhead !== null)?.clockAhead ?? null;
  }

  /** Masks the account's secrets in a text. */
  redact(text: string): string {
    return this.#known?.redact(text) ?? text;
  }

  /** Inspections divided by those that the pace allowed, of the property with the most; null before an answer. */
  get utilisation(): number | null {
    const inspecting = [...this.#clients].filter(([quota]) => quota.startsWith(INSPECTIONS));
    const known = inspecting.flatMap(([, { utilisation }]) => utilisation ?? []);
    return known.length > 0 ? Math.max(...known) : null;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#clients.values()].map((one) => one.close()));
  }

  #clientFor({ quota, perMinute, waits, pressure }: Kind): Client {
    const { google, ...options } = this.options;
    const { endpoint: baseUrl } = google;
    const requestsPerMinute = Math.min(google.requests_per_minute, perMinute);
    const waited = waits.reduce((all, one) => all + one, 0);
    const spent = `Google's quota for ${quota} is used up, perhaps by other tools, and ${counted(waited, 'minute')} did not help; Google's next day begins at midnight in California`;
    return new Client({
      ...options,
      ...{ baseUrl, token: '', places: PLACES, requestsPerMinute, concurrency: GOOGLE_AT_ONCE },
      dialect: {
        transport: this.#transport,
        exchange: (message, counts) => this.#exchange(message, counts),
        redact: (text) => this.redact(text),
        failureOf: (answer) => failureOf(answer, this.access),
        waitsMs: waits.map((minutes) => minutes * MINUTE_MS),
        spent: () => new SourceError('paused', spent, { status: 429 }),
        pressure,
      },
    });
  }

  /** @throws SourceError `unauthorized` without credentials */
  get access(): Access {
    this.#known ??= new Access(this.options);
    return this.#known;
  }

  /** A token may end before its time: it is renewed once. */
  async #exchange(message: Message, counts: Purpose['counts'], refused?: string): Promise<HttpAnswer> {
    const bearer = await this.access.token(refused);
    const project = this.access.credentials.file.quota_project_id;
    const own = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
    const headers = { ...own, ...(project && { 'x-goog-user-project': project }) };
    const answer = withOwnStatus(await this.#transport.send({ ...message, headers }), true);
    if (answer.status === 403 && isOfQuota(message, answer)) return new HttpAnswer(429, answer.headers, answer.body);
    if (answer.status !== 401 || refused) return answer;
    counts.sent++;
    return this.#exchange(message, counts, bearer);
  }
}

/** Whether a 403 is about a quota. Search analytics is asked only where the account may read, so there a bare one is, too. */
function isOfQuota({ path }: Message, { text }: HttpAnswer): boolean {
  return QUOTA.test(text ?? '') || (path.endsWith(ANALYTICS) && !errorSchema.safeParse(jsonOf(text ?? '')).success);
}

/** What an answer other than 200 means; about the setup it is `unauthorized`, because no other call can succeed. */
function failureOf({ status, text }: Refused, { credentials, account }: Access): SourceError {
  const body = text ?? '';
  const error = errorSchema.safeParse(jsonOf(body)).data?.error;
  const setup = status === 403 || status === 400 ? setupRemedy(body, credentials) : null;
  const kind = setup ? 'unauthorized' : kindOfStatus(status);
  const remedies: Partial<Record<typeof kind, string>> = {
    unauthorized: setup ?? `the tokens of ${account} (${credentials.path}) are refused: ${remedyFor(credentials)}`,
    forbidden: `let an owner give ${account} access in Search Console, under Settings → Users and permissions`,
    redirect: 'redirects are refused, because the token would travel with them: check google.endpoint',
    unexpected_status: `check google.endpoint; ${NOT_GOOGLE}`,
  };
  const words = error ? excerpt(`${error.status}: ${error.message}`, MOST_WORDS) : excerpt(body);
  return new SourceError(kind, [`Google answered ${status} (${words})`, remedies[kind] ?? []].flat().join('; '), {
    status,
  });
}

/** What to do about a refusal that no other property or page would change; null for another one. */
function setupRemedy(body: string, credentials: Credentials): string | null {
  if (SCOPE_MISSING.test(body)) return remedyFor(credentials);
  if (NO_PROJECT.test(body)) return 'set GOOGLE_CLOUD_QUOTA_PROJECT to a Google Cloud project that you may use';
  if (!DISABLED.test(body)) return null;
  const project = PROJECT.exec(body)?.[1];
  return `run \`gcloud services enable searchconsole.googleapis.com${project ? ` --project=${project}` : ''}\`, and wait a bit`;
}

export const SITES = '/webmasters/v3/sites';
const siteSchema = z.looseObject({ siteUrl: z.string(), permissionLevel: z.string().default('') });
/** A property as one account sees it. */
export type Site = z.infer<typeof siteSchema>;
const sitesSchema = z.looseObject({ siteEntry: z.array(siteSchema).default([]) });

/** Numbers of 64 bits are sent as text. */
const bigNumber = z.coerce.number().int().nonnegative().nullable().catch(null).default(null);
const submittedSchema = z
  .looseObject({
    path: z.string(),
    lastDownloaded: z.iso.datetime({ offset: true }).nullable().catch(null).default(null),
    errors: bigNumber,
    warnings: bigNumber,
    isPending: z.boolean().nullable().catch(null).default(null),
  })
  .transform(({ path, errors, warnings, lastDownloaded: last_downloaded, isPending: is_pending }) => {
    return { path, last_downloaded, errors, warnings, is_pending };
  });
/** A sitemap that was submitted for a property, with what Search Console says about it. */
export type SubmittedSitemap = z.output<typeof submittedSchema>;
/** Of a sitemap that was not submitted. */
export const SITEMAP_FACTS_UNKNOWN = { last_downloaded: null, errors: null, warnings: null, is_pending: null };
const sitemapsSchema = z.looseObject({ sitemap: z.array(submittedSchema).default([]) });

/** Every property that the account sees, with its permission. @throws SourceError */
export async function listSites(client: GoogleClient, purpose: Purpose): Promise<Site[]> {
  return answerIn(sitesSchema, await client.call('GET', SITES, { property: '', purpose })).siteEntry;
}

/** The sitemaps that were submitted for a property. @throws SourceError */
export async function listSitemaps(client: GoogleClient, call: CallOptions): Promise<SubmittedSitemap[]> {
  const text = await client.call('GET', `${SITES}/${encodeURIComponent(call.property)}/sitemaps`, call);
  return answerIn(sitemapsSchema, text).sitemap;
}

/** An answer, checked. @throws SourceError `bad_body` */
export function answerIn<T>(schema: z.ZodType<T>, text: string): T {
  const { data, error } = schema.safeParse(jsonOf(text));
  if (!error) return data;
  const [issue] = issuesOf(error);
  const why = looksLikeHtml(text) ? 'it is an HTML page' : `${issue?.path}: ${issue?.message}`;
  const message = `Google's answer is not as documented (${why}); ${NOT_GOOGLE}`;
  throw new SourceError('bad_body', message, { status: 200 });
}
