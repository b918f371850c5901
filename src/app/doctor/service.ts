import type { Config } from '../../base/config/schema.js';
import { allFrom, type Website } from '../../base/config/websites.js';
import { Stopped } from '../../base/exit.js';
import type { HttpAnswer } from '../../base/http/exchange.js';
import { counted, sentence } from '../../base/observe/format.js';
import type { Client } from '../../source/client.js';
import { type Clients, keyDetails } from '../../source/clients.js';
import { type ClockEvidence, judgeClock } from '../../source/clock.js';
import type { KeyDetails } from '../../source/contract/key.js';
import { type FailureKind, SourceError } from '../../source/errors.js';
import { listingPath } from '../../source/links.js';
import { readWindow, type Window } from '../../source/walk/coverage-window.js';
import { type CheckResult, partsOf, resultsOf, TRY_LATER } from './check-result.js';

const UNREACHABLE: ReadonlySet<FailureKind> = new Set(['network', 'certificate', 'timeout']);

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
  const isMoved = error instanceof SourceError && error.kind === 'redirect';
  if (isMoved || (error instanceof SourceError && UNREACHABLE.has(error.kind))) {
    const [message, remedy] = partsOf(
      error,
      'Check api.base_url, the network, a proxy or firewall, and the certificate.',
    );
    return base.error(isMoved ? `${message}: it redirects to ${answer?.headers.location}` : message, remedy);
  }
  if (answer === null) return base.error(`${api.base_url} did not answer in time`, TRY_LATER);
  const isEncrypted = api.base_url.startsWith('https:');
  return base.ok(`${api.base_url} answers${isEncrypted ? '' : ' (not encrypted; allowed on loopback only)'}`);
}

/** Whether the service knows the token. Key details are an optional operation, so their absence is no fault. */
export function checkToken({ details, error, schemaProblem }: KeyAnswer, websites: Config['websites']): CheckResult {
  if (details) {
    const readable = details.websites_access.length;
    return token.ok(`the key "${details.api_key_label}" may read ${counted(readable, 'website')}`);
  }
  const [why, remedy] = error ? partsOf(error) : [`its details break the contract (${schemaProblem})`, TRY_LATER];
  const { kind, status = null } = error instanceof SourceError ? error : {};
  if (kind === 'unauthorized') return token.error(why, remedy);
  // Only then does the service's answer say something about the key.
  const isAnswered = error === null || status !== null;
  if (allFrom({ websites }) === 'api' && isAnswered) {
    const said = `the service does not list the key's websites: ${why}`;
    return token.error(said, 'List them under websites instead of `all`.');
  }
  if (kind === 'not_found' || kind === 'forbidden')
    return token.ok(`the service gives no details about the key (${status}), which is fine`);
  return token.warning(`the key was not checked: ${why}`, 'See the findings on base_url and on each website.');
}

/** Whether this machine's clock agrees with the services and with the snapshots, as a sync demands. */
export function checkClock(evidence: ClockEvidence): CheckResult {
  const found = judgeClock(evidence);
  if (found) return clock[found.level](found.message, sentence(found.remedy));
  if (evidence.services.every(({ ahead }) => ahead === null))
    return clock.ok('not compared: no answer of a service said the time');
  return clock.ok("agrees with the service's to within ten minutes");
}

/** Asks for one entry of a website's listing. @param known the websites that the key may read */
export async function checkWebsite(
  { id, name, places }: Website,
  client: Client,
  known: readonly string[],
): Promise<CheckResult> {
  const called = name ? `${name} (${id})` : id;
  try {
    const counts = { sent: 0, throttled: 0, retried: 0 };
    const window = readWindow(await client.send({ path: listingPath(id, 0, 1) }, { lane: id, counts }), places.baseUrl);
    return judged(called, window);
  } catch (error) {
    const kind = error instanceof SourceError && error.kind;
    const [message, remedy] = partsOf(error, `Check its id under websites, and the path of ${places.baseUrl}.`);
    const said = `${called}: ${message}`;
    if (kind === 'bad_request') return website.warning(said, 'Nothing to do if a sync works: it omits `limit`.');
    const isAbsent = (kind === 'not_found' || kind === 'forbidden') && known.length > 0;
    const readable = isAbsent ? ` The key has access to: ${known.join(', ')}.` : '';
    return website.error(said, remedy + readable);
  }
}

function judged(called: string, { entries, pagination }: Window): CheckResult {
  const verdicts = entries.flatMap((entry) => ('verdict' in entry ? [entry.verdict] : []));
  const broken = verdicts.flatMap((verdict) => (verdict.accepted ? [] : verdict.issues))[0];
  if (broken) {
    const said = `${called}: an entry breaks the contract (${broken.path}: ${broken.message})`;
    return website.warning(said, 'Such entries are quarantined; check whether the API changed.');
  }
  const pages = pagination.count ?? null;
  if (pages === 0)
    return website.warning(`${called}: has no monitored pages`, 'Add pages to the website in the service.');
  return website.ok(`${called}: readable, ${pages === null ? 'pages not counted' : counted(pages, 'page')}`);
}
