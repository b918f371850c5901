import { z } from 'zod';
import { safe } from '../observe/terminal.js';
import { idProblem } from '../storage/names.js';
import { DAY_MS } from '../time.js';
import { plainEscapes, urlOf } from '../url.js';
import { baseUrl, duration, listOf, mapping, path, says, text, tokenOrFile, whole } from './scalars.js';

const DOMAIN = /^sc-domain:(?=[^/@:?#\s]+$)/i;

const credentials = path()
  .optional()
  .describe(
    'Credentials file, relative to this file; by default GOOGLE_APPLICATION_CREDENTIALS, `indexhouse login`, gcloud, or the metadata server.',
  );
const account = text('the name of an account')
  .optional()
  .describe('With `source: google`: one of `google.accounts`; left out: the account of `google`.');

/** `google`: how Search Console is asked. */
export const google = mapping({
  credentials,
  accounts: z
    .record(
      z.string().regex(/^[\w-]{1,64}$/, says('is not a name', 'Use letters, digits, - and _.')),
      mapping({ credentials }),
    )
    .prefault({})
    .describe('Several accounts by name, each with its own credentials; `account` chooses one.'),
  requests_per_minute: whole(1, 100_000).prefault(600).describe('Requests per minute, for each property.'),
  history: duration(DAY_MS, 488 * DAY_MS)
    .prefault('480d')
    .describe('How far back search analytics are fetched, day by day; Google keeps 16 months.'),
  endpoint: baseUrl('Write it as https://searchconsole.googleapis.com.')
    .prefault('https://searchconsole.googleapis.com')
    .describe('Address of the interface, for tests: https, except on loopback.'),
});

/** Section `google`, parsed; `account` is the name of the one that is asked with it. */
export type GoogleConfig = z.output<typeof google> & { account?: string };

/** Section `google` as an account sees it: with what is its own, and nothing of the account that has no name. */
export function googleFor(google: GoogleConfig, account: string | null): GoogleConfig {
  if (account === null) return google;
  return { ...google, account, credentials: google.accounts[account]?.credentials };
}

/** Why an account cannot be chosen. */
export function accountProblem({ accounts }: Pick<GoogleConfig, 'accounts'>, name: string): string | null {
  if (Object.hasOwn(accounts, name)) return null;
  const known = Object.keys(accounts).join(', ');
  return `is not one of google.accounts${known && ` (${known})`}\nAdd it there, for a sign-in of its own: \`accounts: {${name}: {}}\`.`;
}

/** `websites`: all that the token has access to, or all properties; but some. */
const allWebsites = mapping({
  all: z.literal(true, says('is not true', 'Write true, or one `- id: …` for each website.')),
  source: z.literal('google', says('is not google', 'Write `source: google`, or leave it out for `api`.')).optional(),
  except: z.array(text('the id of a website'), says('is not a list', 'Write ["id"].')).prefault([]),
  account,
});

function autoOr(isValid: (value: string) => boolean, bad: ReturnType<typeof says>) {
  const neither = says('is neither `auto` nor a list', 'Write auto.');
  return z.union([z.literal('auto'), listOf(isValid, bad)], neither).optional();
}

const prefixes = autoOr(
  (id) => isWebAddress(id) && propertyProblem(id) === null,
  says('is not a URL prefix', 'Write it as https://www.example.com/blog/, with the slash at its end.'),
);
const sitemaps = autoOr(
  isWebAddress,
  says('is not the address of a sitemap', 'Write it as https://www.example.com/sitemap.xml.'),
);

/** What an entry of `websites` may have only with `source: google`. */
const googleKeys = {
  account,
  inspections_per_day: whole(1, 100_000)
    .optional()
    .describe('With `source: google`: for each property; 2000 if left out.'),
  properties: prefixes.describe(
    'With `source: google`: URL prefixes that lend their quota; "auto": all readable properties that have its pages.',
  ),
  sitemaps: sitemaps.describe('With `source: google`: addresses; "auto": those of Search Console and robots.txt.'),
};

/** Refuses the keys of the other source; with `source: google`, ids that are no properties of Search Console. */
function checkSource(entry: { id: string; source?: 'google' | undefined }, context: z.RefinementCtx): void {
  const isGoogle = entry.source === 'google';
  const message = isGoogle
    ? 'is not for `source: google`\nRemove it: section `google` names the credentials.'
    : 'is for `source: google` only\nRemove it, or add `source: google` to this website.';
  for (const key of Object.keys(entry).filter((key) => (isGoogle ? key === 'token' : key in googleKeys))) {
    context.addIssue({ code: 'custom', path: [key], message });
  }
  const problem = isGoogle ? propertyProblem(entry.id) : null;
  if (problem) context.addIssue({ code: 'custom', path: ['id'], message: problem });
}

/** Why an id is not that of a property. */
export function propertyProblem(id: string): string | null {
  if (scopeOf(id) !== null) return null;
  const forms = 'sc-domain:example.com for a domain, https://www.example.com/ for what begins with that';
  const isPrefix = isWebAddress(id) && !/[?#]/.test(id);
  return isPrefix
    ? `lacks the slash at its end\nWrite ${safe(id)}/.`
    : `is not a property of Search Console\nWrite ${forms}.`;
}

/**
 * What a property covers: for a domain its hosts as `.example.com`, else how its addresses begin. Two ids of the same
 * property have the same scope, in Unicode or Punycode, in any case, and with or without a dot behind the host.
 *
 * @returns null for what is no property
 */
export function scopeOf(id: string): string | null {
  const address = id.replace(DOMAIN, 'https://');
  if (!isWebAddress(address) || /[?#]/.test(address)) return null;
  const { protocol, hostname, port, pathname } = new URL(address);
  const host = hostname.replace(/\.$/, '');
  if (address !== id) return /^([a-z0-9_-]+\.)+[a-z0-9-]+$/.test(host) ? `.${host}` : null;
  return id.endsWith('/') ? `${protocol}//${host}${port && `:${port}`}${plainEscapes(pathname)}` : null;
}

function isWebAddress(value: string): boolean {
  return /^https?:\/\/[^/@\s]+(\/\S*)?$/i.test(value) && urlOf(value) !== null;
}

const neither = says('is neither `all` nor a list of websites', 'Write `all`, or one `- id: …` for each website.');

/** An entry of `websites`. */
const website = mapping({
  id: text('the id of a website')
    .refine((id) => idProblem(id) === null, says('is not the id of a website', 'Write its id as the service gives it.'))
    .describe('Id of the website in the service, or of the property: sc-domain:example.com.'),
  source: z
    .literal('google', says('is not a source', 'Write google, or leave it out for the service of `api`.'))
    .optional()
    .describe('"google": a property of Search Console, see `google`; left out: the service of `api`.'),
  name: text('a name').optional().describe('Name in reports; the id if left out.'),
  token: tokenOrFile().optional().describe('Token for this website, if it is not `api.token`; in the same forms.'),
  ...googleKeys,
}).superRefine(checkSource);

const entries = z.array(website).min(1, says('is an empty list', 'Add a website, or write `all`.'));

/** `websites`. */
export const websites = z
  .union([z.literal('all'), allWebsites, entries], neither)
  .superRefine((value, context) => {
    if (!Array.isArray(value)) return;
    const same = ({ id, source }: (typeof value)[number]) => (source && scopeOf(id)) ?? id;
    for (const [index, entry] of value.entries()) {
      const first = value.findIndex((other) => same(other) === same(entry));
      const message = `is also the id of entry ${first + 1}\nRemove one of the two.`;
      if (first < index) context.addIssue({ code: 'custom', path: [index, 'id'], message });
    }
  })
  .prefault('all')
  .describe(
    'Websites to sync, or "all": every website that the token has access to; {all: true, source: google}: every property; except: [ids].',
  );

type Websites = z.infer<typeof websites>;
type Access = { base_url?: string | undefined; token?: string | undefined };

/** Requires the access of `api` if a website uses it; whatever else is wrong, even an entry of another form. */
export function checkAccess({ api, websites }: { api: Access; websites: Websites }, context: z.RefinementCtx): void {
  const isAll = websites === 'all' || (!Array.isArray(websites) && !websites.source);
  for (const key of ['base_url', 'token'] as const) {
    const lacks = (one: (Access & { source?: string | undefined }) | null) =>
      !one?.source && !(key === 'token' && one?.token);
    const at = Array.isArray(websites) ? websites.findIndex(lacks) : -1;
    if (api?.[key] !== '' || (at < 0 && !isAll)) continue;
    const message = `is missing\nSet it: \`websites${at < 0 ? ': all' : `[${at}]`}\` needs it without \`source: google\`.`;
    context.addIssue({ code: 'custom', path: ['api', key], message });
  }
}

/** Requires that `google.accounts` has each account that is chosen. */
export function checkAccounts(
  { google, websites }: { google: Pick<GoogleConfig, 'accounts'>; websites: Websites },
  context: z.RefinementCtx,
): void {
  const entries = Array.isArray(websites) ? websites.map((one, at) => [[at], one] as const) : [[[], websites] as const];
  for (const [at, entry] of entries) {
    const name = typeof entry === 'object' && 'account' in entry ? entry.account : undefined;
    const isOfGoogle = Array.isArray(websites) || (typeof websites === 'object' && websites.source === 'google');
    const problem = isOfGoogle ? accountProblem(google, name ?? '') : 'is for `source: google` only\nRemove it.';
    const message = name === undefined ? null : problem;
    if (message) context.addIssue({ code: 'custom', path: ['websites', ...at, 'account'], message });
  }
}
