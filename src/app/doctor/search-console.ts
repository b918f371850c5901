import type { Config } from '../../base/config/schema.js';
import type { Website } from '../../base/config/websites.js';
import { Stopped } from '../../base/exit.js';
import { count, counted } from '../../base/observe/format.js';
import { uncounted } from '../../source/client.js';
import { type Clients, configuredWebsites } from '../../source/clients.js';
import { SourceError } from '../../source/errors.js';
import { GCLOUD_LOGIN } from '../../source/search-console/access.js';
import { listSitemaps, listSites, type Site } from '../../source/search-console/calls.js';
import { isReadable, whyRefused } from '../../source/search-console/property.js';
import { type CheckResult, resultsOf } from './check-result.js';

const account = resultsOf('account');
const property = resultsOf('property');
/** What to do where access is not what is missing. */
export const TRY_LATER = 'Try again later.';

/** How to give indexhouse access to a property. */
export const ACCESS_STEPS = `Access to Search Console, as a user:
  1. gcloud services enable searchconsole.googleapis.com --project=PROJECT
  2. ${GCLOUD_LOGIN}
  3. in indexhouse.yaml, under google:   quota_project: PROJECT
or as a service account, for machines:
  1. gcloud services enable searchconsole.googleapis.com --project=PROJECT
  2. gcloud iam service-accounts create indexhouse --project=PROJECT
  3. gcloud iam service-accounts keys create key.json --iam-account=indexhouse@PROJECT.iam.gserviceaccount.com
  4. in Search Console, Settings → Users and permissions: add that address. If it is refused, sign in as a user.
  5. in indexhouse.yaml, under google:   credentials: key.json`;

/** Checks the account, and every property that is configured, with one request for all and two for each. */
export async function examineProperties(config: Config, clients: Clients): Promise<CheckResult[]> {
  try {
    const sites = await listSites(clients.google, uncounted());
    const readable = sites.filter(isReadable).length;
    const said = `${clients.google.access.account} signs in and may read ${properties(readable)}`;
    const first = readable > 0 ? account.ok(said) : account.error(said, 'Give it access, as shown below.');
    const websites = (await configuredWebsites(config, clients)).filter(({ google }) => google !== null);
    return [first, ...(await Promise.all(websites.map((website) => examineProperty(website, sites, clients))))];
  } catch (error) {
    return [account.error(...partsOf(error))];
  }
}

async function examineProperty(website: Website, sites: readonly Site[], clients: Clients): Promise<CheckResult> {
  const { id, google } = website;
  const refused = whyRefused(id, sites, clients.google.access.account);
  if (refused !== null) return property.error(...partsOf(new SourceError('forbidden', refused)));
  try {
    const listed = await listSitemaps(clients.google, { property: id, purpose: uncounted() });
    const quotas = (await clients.sourceOf(website).quotas(uncounted())) ?? [];
    const below = quotas.length > 1 ? `, and of ${properties(quotas.length - 1)} below it` : '';
    const files = google?.sitemaps === 'auto' ? `${counted(listed.length, 'sitemap')} listed there` : 'own sitemaps';
    const level = sites.find(({ siteUrl }) => siteUrl === id)?.permissionLevel;
    const perDay = count(google?.inspectionsPerDay ?? 0);
    return property.ok(`${id}: ${level}, ${files}, ${perDay} inspections a day of its own${below}`);
  } catch (error) {
    const [message, remedy] = partsOf(error);
    return property.error(`${id}: ${message}`, remedy);
  }
}

function properties(number: number): string {
  return `${count(number)} ${number === 1 ? 'property' : 'properties'}`;
}

/** What happened, and the remedy, which follows it. */
function partsOf(error: unknown): [message: string, remedy: string] {
  if (error instanceof Stopped) return ['no answer in time', TRY_LATER];
  if (!(error instanceof SourceError)) throw error;
  const found = /^(.*); (.*)$/s.exec(error.message) ?? /^(.*?): (.*)$/s.exec(error.message);
  const [, message = error.message, remedy = 'try again later'] = found ?? [];
  return [message, `${remedy[0]?.toUpperCase()}${remedy.slice(1)}.`];
}
