import { setMaxListeners } from 'node:events';
import { totalmem } from 'node:os';
import { ConfigError, problemText } from '../../base/config/errors.js';
import type { Config } from '../../base/config/schema.js';
import { allFrom, apiAccess, namedWebsites, type Website, websitesFor } from '../../base/config/websites.js';
import { messageOf, Stopped } from '../../base/exit.js';
import type { HttpAnswer } from '../../base/http/exchange.js';
import { counted, sentence, size as sized } from '../../base/observe/format.js';
import type { Disk } from '../../base/storage/free-disk.js';
import { packageVersion } from '../../base/version.js';
import type { Client } from '../../source/client.js';
import { Clients, keyDetails } from '../../source/clients.js';
import { type ClockEvidence, judgeClock } from '../../source/clock.js';
import type { KeyDetails } from '../../source/contract/key.js';
import { type FailureKind, SourceError } from '../../source/errors.js';
import { listingPath } from '../../source/links.js';
import { readWindow, type Window } from '../../source/walk/coverage-window.js';
import { configuredTime, type RunEffects, realRunEffects } from '../../sync/context.js';
import { type CheckResult, partsOf, resultsOf, TRY_LATER } from './check-result.js';
import { examineProperties } from './search-console.js';
import { checkBucket, checkFolder, checkStatus, latestSnapshot } from './warehouse.js';

const UNREACHABLE: ReadonlySet<FailureKind> = new Set(['network', 'certificate', 'timeout']);

const base = resultsOf('base_url');
const token = resultsOf('token');
const clock = resultsOf('clock');
const website = resultsOf('website');

/** The result of one request for the key's details. */
interface KeyAnswer {
  details: KeyDetails | null;
  error: SourceError | Stopped | null;
  /** What breaks the contract in the answer. */
  schemaProblem: string | null;
}

/** Sends the only request that is not for a website. */
async function askForKey(clients: Clients, config: Config): Promise<KeyAnswer> {
  try {
    return { ...(await keyDetails(config, clients)), error: null };
  } catch (error) {
    if (error instanceof SourceError || error instanceof Stopped) return { details: null, error, schemaProblem: null };
    throw error;
  }
}

/** Whether something answers at the base address, without redirecting. */
function checkBaseUrl({ api }: Config, { error }: KeyAnswer, answer: HttpAnswer | null): CheckResult {
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
function checkToken({ details, error, schemaProblem }: KeyAnswer, websites: Config['websites']): CheckResult {
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
function checkClock(evidence: ClockEvidence): CheckResult {
  const found = judgeClock(evidence);
  if (found) return clock[found.level](found.message, sentence(found.remedy));
  if (evidence.services.every(({ ahead }) => ahead === null))
    return clock.ok('not compared: no answer of a service said the time');
  return clock.ok("agrees with the service's to within ten minutes");
}

/** Asks for one entry of a website's listing. @param known the websites that the key may read */
async function checkWebsite(
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

/** DuckDB exceeds its limit, and Node needs memory, too. */
const SAFE_SHARE_OF_MEMORY = 0.75;

/** A throttled key makes requests wait for minutes; after this long, the check reports what it knows. */
const PATIENCE_MS = 120_000;

const disk = resultsOf('disk');
const memory = resultsOf('memory');

export interface DoctorEffects extends RunEffects {
  /** The most memory that this process may use, in bytes. */
  availableMemory(): number;
}

const realDoctorEffects: DoctorEffects = {
  ...realRunEffects,
  availableMemory: () => Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY),
};

/**
 * Checks everything that a sync needs, with one request for the key and one or two for each website. Changes nothing.
 *
 * @param load the configuration; throws ConfigError
 * @returns whether the configuration could be used, too
 */
export async function examine(
  load: () => Promise<Config>,
  signal: AbortSignal,
  effects: DoctorEffects = realDoctorEffects,
): Promise<{ findings: CheckResult[]; configured: boolean }> {
  const { config, found } = await checkConfig(load);
  if (config === null) return { findings: found, configured: false };
  const timed = await configuredTime(config, effects);
  const service = await examineService(config, AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]), timed);
  const place = [
    await guarded('warehouse', () => checkFolder(config)),
    await guarded('status', () => checkStatus(config)),
    await guarded('bucket', () => checkBucket(config)),
    checkDisk(await effects.diskOf(config.warehouse.path)),
    checkMemory(config, effects.availableMemory()),
  ];
  return { findings: [found, service, place].flat(2), configured: true };
}

/** Makes a check that throws a finding, too, so that the other findings are still shown. */
async function guarded<T extends CheckResult | CheckResult[]>(
  check: string,
  run: () => Promise<T>,
): Promise<T | CheckResult> {
  try {
    return await run();
  } catch (error) {
    const message = `could not be checked: ${messageOf(error)}`;
    return resultsOf(check).error(message, 'Check the warehouse: `indexhouse verify`.');
  }
}

async function examineService(config: Config, signal: AbortSignal, effects: RunEffects): Promise<CheckResult[]> {
  // Each request in flight listens for it.
  setMaxListeners(0, signal);
  const seen: HttpAnswer[] = [];
  // No retries, because the question is whether it works now.
  const clients = new Clients(config, {
    maxAttempts: 1,
    version: await packageVersion(),
    effects,
    signal,
    onAnswer: (answer) => seen.push(answer),
  });
  try {
    const api = config.api.base_url === '' ? NO_API : await examineApi(config, clients, seen);
    const isOfGoogle = allFrom(config) === 'google' || namedWebsites(config)?.some(({ google }) => google !== null);
    const properties = isOfGoogle ? await examineProperties(config, clients) : [];
    const services = isOfGoogle ? [{ baseUrl: config.google.endpoint, ahead: clients.googlesClockAhead }] : [];
    const evidence = { now: effects.now(), latest: await latestSnapshot(config) };
    const clock = checkClock({ ...evidence, services: [...api.services, ...services] });
    return [...api.access, clock, ...properties, ...api.websites];
  } finally {
    await clients.close();
  }
}

const NO_API = { access: [], websites: [], services: [] };

async function examineApi(config: Config, clients: Clients, seen: readonly HttpAnswer[]) {
  const key = await askForKey(clients, config);
  const websites = await examineWebsites(config, clients, key);
  const services = [apiAccess(config), ...websitesFor(config, key.details)].map((access) => {
    return { baseUrl: access.baseUrl, ahead: clients.clientOf(access).clockAhead };
  });
  return { access: [checkBaseUrl(config, key, seen[0] ?? null), checkToken(key, config.websites)], websites, services };
}

async function examineWebsites(config: Config, clients: Clients, key: KeyAnswer): Promise<CheckResult[]> {
  const websites = websitesFor(config, key.details);
  const asked = websites.filter((website) => mayAsk(website, config, key));
  const isOfKey = (website: Website) => website.baseUrl === config.api.base_url && website.token === config.api.token;
  const known = key.details?.websites_access.map(({ _id, url }) => `${_id} (${url})`) ?? [];
  // What the service says about `api.token` says nothing about another key.
  const checks = await Promise.all(
    asked.map((website) => checkWebsite(website, clients.clientOf(website), isOfKey(website) ? known : [])),
  );
  const skipped = websites.length - asked.length;
  if (skipped === 0) return checks;
  const finding = resultsOf('website').warning(
    `${counted(skipped, 'website was', 'websites were')} not checked because of the problems above`,
    'Fix these and run `indexhouse doctor` again.',
  );
  return [...checks, finding];
}

/** Whether a request can succeed: not after a refused token, or if nothing answers. */
function mayAsk(website: Website, { api }: Config, { error }: KeyAnswer): boolean {
  if (!(error instanceof SourceError)) return error === null;
  if (website.baseUrl !== api.base_url) return true;
  if (error.kind === 'unauthorized') return website.token !== api.token;
  return !['network', 'certificate', 'timeout', 'redirect'].includes(error.kind);
}

/**
 * Whether the configuration can be read.
 *
 * @param load throws ConfigError for what is wrong
 * @returns the configuration, or null if nothing else can be checked
 */
async function checkConfig(load: () => Promise<Config>): Promise<{ config: Config | null; found: CheckResult[] }> {
  try {
    const loaded = await load();
    return { config: loaded, found: [resultsOf('config').ok(`${loaded.file} is valid`)] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const found = error.problems.map((problem) => resultsOf('config').error(problemText(problem), problem.remedy));
    return { config: null, found };
  }
}

function checkDisk({ free, reserve }: Disk): CheckResult {
  const message = `${sized(free)} free, of which ${sized(reserve)} stay free`;
  return free < reserve ? disk.error(message, 'Free some space: with less no reports are fetched.') : disk.ok(message);
}

/** @param available bytes of the machine or of the container */
function checkMemory({ warehouse }: Config, available: number): CheckResult {
  const limit = warehouse.memory_limit;
  const message = `memory_limit is ${sized(limit)}, the machine has ${sized(available)}`;
  if (limit <= available * SAFE_SHARE_OF_MEMORY) return memory.ok(message);
  const fitting = `${Math.max(64, Math.floor((available * SAFE_SHARE_OF_MEMORY) / 2e6))}MB`;
  return memory.warning(
    message,
    `Lower warehouse.memory_limit to about ${fitting}, or the system may kill the process.`,
  );
}
