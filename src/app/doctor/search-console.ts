import { statSync } from 'node:fs';
import { scopeOf } from '../../base/config/google.js';
import type { Config } from '../../base/config/schema.js';
import { googleAccounts, type Website } from '../../base/config/websites.js';
import { count, counted, shellWord } from '../../base/observe/format.js';
import { uncounted } from '../../source/client.js';
import { type Clients, configuredWebsites, coveredSentence } from '../../source/clients.js';
import { SourceError } from '../../source/errors.js';
import { type Credentials, ORDER } from '../../source/search-console/credentials.js';
import type { Site } from '../../source/search-console/google-client.js';
import { countedProperties, isReadable } from '../../source/search-console/property.js';
import { describe } from '../../source/search-console/remedy.js';
import { type CheckResult, partsOf, resultsOf } from './check-result.js';

const account = resultsOf('account');
const property = resultsOf('property');

/** No call of a check waits longer for its quota, in milliseconds. */
const PATIENCE_MS = 30_000;

/** How to give indexhouse access to a property. */
export const ACCESS_STEPS = `Access to Search Console, as a user (docs/search-console.md, "Set up", has the clicks that create the client):
  1. gcloud services enable searchconsole.googleapis.com --project=PROJECT
  2. indexhouse login --client client_secret.json
or, on Google Cloud, as the service account of the machine, without credentials; or with its key:
  1. gcloud iam service-accounts create indexhouse --project=PROJECT
  2. gcloud iam service-accounts keys create key.json --iam-account=indexhouse@PROJECT.iam.gserviceaccount.com
  3. in indexhouse.yaml, under google:   credentials: key.json
  4. in Search Console, Settings → Users and permissions: add its address. If it is refused, sign in as a user.`;

/** Checks each account, and tries with every configured property what a night does. */
export async function examineProperties(config: Config, clients: Clients): Promise<CheckResult[]> {
  return (await Promise.all(googleAccounts(config).map((name) => examineAccount(name, config, clients)))).flat();
}

async function examineAccount(name: string | null, config: Config, clients: Clients): Promise<CheckResult[]> {
  const found: CheckResult[] = [];
  try {
    const own = clients.accountOf(name);
    const { access } = own.client;
    found.push(...checkCredentials(access.credentials));
    const sites = await own.sites(uncounted());
    const readable = sites.filter(isReadable).length;
    const said = `${access.account} signs in${name === null ? '' : ` (account ${name})`} and may read ${countedProperties(readable)}`;
    found.push(readable > 0 ? account.ok(said) : account.error(said, 'Give it access, as shown below.'));
    const covered = await coveredSentence(config, clients);
    if (covered !== null) found.push(account.ok(covered));
    const websites = (await configuredWebsites(config, clients)).filter(({ google }) => google?.account === name);
    const each = await Promise.all(websites.map((website) => examineProperty(website, sites, clients)));
    return [...found, ...each.flat()];
  } catch (error) {
    return [...found, account.error(...partsOf(error))];
  }
}

function checkCredentials(credentials: Credentials): CheckResult[] {
  const said = `credentials: ${describe(credentials)}; the first of ${ORDER}`;
  const { file, path, way } = credentials;
  const ends = 'ends_at' in file && file.ends_at !== undefined;
  const isOpen = way === 'login' && process.getuid !== undefined && (statSync(path).mode & 0o077) !== 0;
  return [
    ends
      ? account.warning(said, 'Its app is in "Testing": publish it, and run `indexhouse login` again.')
      : account.ok(said),
    ...(isOpen ? [account.warning(`others may read ${path}`, `Run \`chmod 600 ${shellWord(path)}\`.`)] : []),
  ];
}

async function examineProperty({ id, google }: Website, sites: readonly Site[], clients: Clients) {
  if (google === null) return [];
  try {
    const purpose = { ...uncounted(), notAfter: Date.now() + PATIENCE_MS };
    const { usable, sitemaps, lacking } = await clients.propertySource(id, google).trial(purpose);
    const level = sites.find(({ siteUrl }) => scopeOf(siteUrl) === scopeOf(id))?.permissionLevel;
    const files = google.sitemaps === 'auto' ? `${counted(sitemaps, 'sitemap')} listed there` : 'own sitemaps';
    const perDay = usable.map(({ property, perDay }) => `${count(perDay)} through ${property}`);
    const found = lacking.map(({ check, message, isHarmless }) =>
      resultsOf(check)[isHarmless ? 'warning' : 'error'](...partsOf(new SourceError('forbidden', `${id}: ${message}`))),
    );
    const fine = property.ok(`${id}: ${level}, ${files}, inspections a day: ${perDay.join(', ')}`);
    return [...(perDay.length > 0 ? [fine] : []), ...found];
  } catch (error) {
    const [message, remedy] = partsOf(error);
    return [property.error(message.includes(id) ? message : `${id}: ${message}`, remedy)];
  }
}
