import type { HttpAnswer } from '../base/http/exchange.js';
import { jsonOf } from '../base/validate.js';
import { errorBodySchema } from './contract/key.js';
import { type FailureKind, type Places, SourceError } from './errors.js';

const EXCERPT_LENGTH = 200;
/** The words of an error that is as documented end with their remedy, so they are kept up to this length. */
export const MOST_WORDS = 4000;
const KIND_BY_STATUS: Readonly<Record<number, FailureKind>> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  408: 'server',
  413: 'bad_request',
  422: 'bad_request',
  429: 'throttled',
};

/** An answer other than 200, with secrets masked. */
export type Refused = Pick<HttpAnswer, 'status' | 'text'>;

/**
 * What an answer other than 200 means, with the remedy.
 *
 * @param waitMs how long the service asks to wait, if it does
 */
export function failureOf(answer: Refused, waitMs: number | null, places: Places): SourceError {
  const kind = kindOf(answer.status);
  const remedy = remediesOf(places)[kind];
  const said = `the service answered ${answer.status}${saying(answer)}`;
  const message = `${said}${remedy ? `; ${remedy}` : ''}`;
  return new SourceError(kind, message, { status: answer.status, waitMs: waitMs ?? 0, said });
}

/** The kind of failure that a status is. */
export function kindOf(status: number): FailureKind {
  if (status >= 300 && status < 400) return 'redirect';
  return KIND_BY_STATUS[status] ?? (status >= 500 ? 'server' : 'unexpected_status');
}

function remediesOf({ baseUrl, token }: Places): Partial<Record<FailureKind, string>> {
  return {
    unauthorized: `the token is missing, wrong or expired: check ${token} (and the environment variable that it reads)`,
    forbidden: 'grant the key access, or remove from the configuration what it cannot read',
    redirect: `redirects are refused, because the token would travel with them: set ${baseUrl} to the final address`,
    throttled:
      'the service keeps throttling this key: lower api.requests_per_minute, or find out who else uses the key',
    server: 'the service has a problem: try again later',
    bad_request: `the request was refused: check ${baseUrl}, and whether the API changed`,
    unexpected_status: `check ${baseUrl}, and whether a proxy answers instead of the service`,
  };
}

/** The service's own words if the body is an error body, else an excerpt of what came instead. */
function saying(answer: Refused): string {
  if (!answer.text) return '';
  const body = errorBodySchema.safeParse(jsonOf(answer.text));
  if (body.success) return ` (${excerpt(body.data.error)}: ${excerpt(body.data.message, MOST_WORDS)})`;
  return ` (${excerpt(answer.text)})`;
}

/** The beginning of a text, on one line. */
export function excerpt(text: string, length = EXCERPT_LENGTH): string {
  return text.slice(0, length).replace(/\s+/g, ' ').trim();
}
