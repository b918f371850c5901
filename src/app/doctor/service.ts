import type { Config } from '../../base/config/schema.js';
import { allFrom, type Website } from '../../base/config/websites.js';
import { Stopped } from '../../base/exit.js';
import type { HttpAnswer } from '../../base/http/exchange.js';
import { counted, sentence } from '../../base/observe/format.js';
import type { Client } from '../../source/client.js';
import { type Clients, keyDetails } from '../../source/clients.js';
import { type ClockEvidence, judgeClock } from '../../source/clock.js';
import type { KeyDetails } from '../../source/contract/key.js';
import { API_PLACES, type FailureKind, type Places, SourceError } from '../../source/errors.js';
import { listingPath } from '../../source/links.js';
import { readWindow, type Window } from '../../source/walk/coverage-window.js';
import { type CheckResult, resultsOf } from './check-result.js';

/** Failures for which the client's message already ends with a remedy. */
const ADVISED: ReadonlySet<FailureKind> = new Set(['unauthorized', 'forbidden', 'redirect', 'throttled', 'server']);
const UNREACHABLE = new Set(['network', 'certificate', 'timeout']);

const base = resultsOf('base_url');
const token = resultsOf('token');
const clock = resultsOf('clock');
const website = resultsOf('website');

/** The result of one request for the key's details. */
export interface KeyAnswer {
  details: KeyDetails | null;
  error: SourceError | Stopped | null;
  /** What breaks the contract in the answer. */
  schemaProblem: string | null;
}

/** Sends the only request that is not for a website. */
export async function askForKey(clients: Clients, config: Config): Promise<KeyAnswer> {
  try {
    return { ...(await keyDetails(config, clients)), error: null };
  } catch (error) {
    if (error instanceof SourceError || error instanceof Stopped) return { details: null, error, schemaProblem: null };
    throw error;
  }
}

/** Whether something answers at the base address, without redirecting. */
export function checkBaseUrl({ api }: Config, { error }: KeyAnswer, answer: HttpAnswer | null): CheckResult {
  if (error instanceof SourceError && error.kind === 'redirect') {
    const to = answer?.headers.location ?? 'another address';
    return base.error(
      `${api.base_url} redirects to ${to}; the token is not sent there`,
      'Set api.base_url to the final address.',
    );
  }
  if (error instanceof SourceError && UNREACHABLE.has(error.kind)) {
    return base.error(error.message, 'Check api.base_url, the network, a proxy or firewall, and the certificate.');
  }
  if (answer === null) return base.error(`${api.base_url} did not answer in time`, 'Try again later.');
  const isEncrypted = api.base_url.startsWith('https:');
  return base.ok(`${api.base_url} answers${isEncrypted ? '' : ' (not encrypted; allowed on loopback only)'}`);
}

/** Whether the service knows the token. Key details are an optional operation, so their absence is no fault. */
export function checkToken({ details, error, schemaProblem }: KeyAnswer, websites: Config['websites']): CheckResult {
  if (details) {
    const readable = details.websites_access.length;
    return token.ok(`the key "${details.api_key_label}" may read ${counted(readable, 'website')}`);
  }
  const why = schemaProblem ? `its details break the contract (${schemaProblem})` : factOf(error);
  if (error instanceof SourceError && error.kind === 'unauthorized') {
    return token.error(
      why,
      'Check api.token and the environment variable that it reads; create a new key if it has expired.',
    );
  }
  // Only then does the service's answer say something about the key.
  const isAnswered = schemaProblem !== null || (error instanceof SourceError && error.status !== null);
  if (allFrom({ websites }) === 'api' && isAnswered) {
    return token.error(
      `the service does not list the key's websites: ${why}`,
      'List them under websites instead of `all`.',
    );
  }
  const isHidden = error instanceof SourceError && (error.kind === 'not_found' || error.kind === 'forbidden');
  if (isHidden) return token.ok(`the service gives no details about the key (${error.status}), which is fine`);
  return token.warning(`the key was not checked: ${why}`, 'See the findings on base_url and on each website.');
}

/** What happened, without the client's own remedy, because a finding has a better one. */
function factOf(error: Error | null): string {
  if (error === null) return 'no answer';
  if (!(error instanceof SourceError) || !ADVISED.has(error.kind)) return error.message;
  const end = error.message.lastIndexOf('; ');
  return end < 0 ? error.message : error.message.slice(0, end);
}

/** Whether this machine's clock agrees with the services and with the snapshots, as a sync demands. */
export function checkClock(evidence: ClockEvidence): CheckResult {
  const found = judgeClock(evidence);
  if (found) return clock[found.level](found.message, sentence(found.remedy));
  if (evidence.services.every(({ ahead }) => ahead === null))
    return clock.ok('not compared: no answer of a service said the time');
  return clock.ok("agrees with the service's to within ten minutes");
}

function remedyOf(kind: FailureKind, { baseUrl, token }: Places): string {
  const remedies: Partial<Record<FailureKind, string>> = {
    unauthorized: `Check ${token}, and the environment variable that it reads.`,
    forbidden: 'Give the key access to this website, or remove the website from the configuration.',
    not_found:
      baseUrl === API_PLACES.baseUrl
        ? 'Check its id under websites; it may have been deleted.'
        : `Check its id under websites, and the path of ${baseUrl}.`,
    redirect: `Set ${baseUrl} to the final address.`,
    throttled: 'Lower api.requests_per_minute, or find out who else uses the key.',
    bad_body: `Check ${baseUrl}, and whether the API changed.`,
  };
  return remedies[kind] ?? `Try again later; then check ${baseUrl}.`;
}

export interface WebsiteCheck {
  finding: CheckResult;
  /** As the service counts them; 0 if it does not. */
  pages: number;
}

/** Asks for one entry of a website's listing. */
export async function checkWebsite(
  { id, name, places }: Website,
  client: Client,
  input: { known: readonly string[]; isBaseFound: boolean },
): Promise<WebsiteCheck> {
  const called = name ? `${name} (${id})` : id;
  try {
    const counts = { sent: 0, throttled: 0, retried: 0 };
    const window = readWindow(await client.send({ path: listingPath(id, 0, 1) }, { lane: id, counts }), places.baseUrl);
    return { finding: judged(called, window), pages: window.pagination.count ?? 0 };
  } catch (error) {
    if (error instanceof Stopped) return failed(called, 'no answer in time', 'Try again later.');
    if (!(error instanceof SourceError)) throw error;
    return refused(called, error, { ...input, places });
  }
}

function judged(called: string, { entries, pagination, drift }: Window): CheckResult {
  const verdicts = entries.flatMap((entry) => ('verdict' in entry ? [entry.verdict] : []));
  const broken = verdicts.flatMap((verdict) => (verdict.accepted ? [] : verdict.issues))[0];
  if (broken) {
    return website.warning(
      `${called}: an entry breaks the contract (${broken.path}: ${broken.message})`,
      'Such entries are quarantined; check whether the API changed.',
    );
  }
  const unknown = verdicts.flatMap((verdict) => (verdict.accepted ? Object.keys(verdict.extra ?? {}) : []));
  const strange = [...unknown, ...drift.map(({ field }) => field)];
  const pages = pagination.count ?? null;
  if (strange.length > 0) {
    return website.warning(
      `${called}: readable, but differs from the contract in: ${strange.join(', ')}`,
      'Nothing to do: unknown fields are kept, missing ones become null, and both are recorded as drift.',
    );
  }
  if (pages === 0)
    return website.warning(`${called}: has no monitored pages`, 'Add pages to the website in the service.');
  return website.ok(`${called}: readable, ${pages === null ? 'pages not counted' : counted(pages, 'page')}`);
}

function refused(
  called: string,
  error: SourceError,
  { known, isBaseFound, places }: { known: readonly string[]; isBaseFound: boolean; places: Places },
): WebsiteCheck {
  if (error.kind === 'bad_request') {
    const finding = website.warning(
      `${called}: a window of one entry is refused (${error.message})`,
      'Nothing to do if a sync works: it omits `limit` if the service refuses it.',
    );
    return { finding, pages: 0 };
  }
  if (error.kind === 'not_found' && !isBaseFound) {
    const remedy =
      'Check the path of api.base_url: the key was not found there either. Then check the id under websites.';
    return failed(called, factOf(error), remedy);
  }
  const readable = known.length > 0 ? ` The key has access to: ${known.join(', ')}.` : '';
  const isAbsent = error.kind === 'not_found' || error.kind === 'forbidden';
  const remedy = remedyOf(error.kind, places);
  return failed(called, factOf(error), isAbsent ? remedy + readable : remedy);
}

function failed(called: string, message: string, remedy: string): WebsiteCheck {
  return { finding: website.error(`${called}: ${message}`, remedy), pages: 0 };
}
