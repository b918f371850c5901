import { z } from 'zod';
import { idProblem } from '../storage/names.js';
import { urlOf } from '../url.js';
import { accountProblem, allWebsites, checkSource, type GoogleConfig, googleKeys, scopeOf } from './google.js';
import { baseUrl, mapping, says, text, token } from './scalars.js';

const neither = says('is neither `all` nor a list of websites', 'Write `all`, or one `- id: …` for each website.');

/** The loader reads the file, so that `token` is always set. */
export function tokenFile() {
  return text('a path').optional().describe('File that holds the token, instead of `token`; relative to this file.');
}

/** An entry of `websites`. */
export const website = mapping({
  id: text('the id of a website')
    .refine((id) => idProblem(id) === null, says('is not the id of a website', 'Write its id as the service gives it.'))
    .describe('Id of the website in the service, or of the property: sc-domain:example.com.'),
  source: z
    .literal('google', says('is not a source', 'Write google, or leave it out for the service of `api`.'))
    .optional()
    .describe('"google": a property of Search Console, see `google`; left out: the service of `api`.'),
  name: text('a name').optional().describe('Name in reports; the id if left out.'),
  base_url: baseUrl()
    .optional()
    .describe('Address of the service for this website, if it is not `api.base_url`; another host needs `token`, too.'),
  token: token().optional().describe('Token for this website, if it is not `api.token`.'),
  token_file: tokenFile(),
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
type Access = { source?: 'google' | undefined; base_url?: string | undefined; token?: string | undefined };

/** Requires the access of `api` if a website uses it; whatever else is wrong, even an entry of another form. */
export function checkAccess({ api, websites }: { api: Access; websites: Websites }, context: z.RefinementCtx): void {
  const usesApi = (one: Access | null) => !one?.source && !(one?.base_url && one.token);
  const at = Array.isArray(websites) ? websites.findIndex(usesApi) : -1;
  const isAll = websites === 'all' || (!Array.isArray(websites) && !websites.source);
  if (at < 0 && !isAll) return;
  const message = `is missing\nSet it: \`websites${at < 0 ? ': all' : `[${at}]`}\` needs it without \`source: google\`.`;
  for (const key of ['base_url', 'token'] as const) {
    if (api?.[key] === '') context.addIssue({ code: 'custom', path: ['api', key], message });
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

/** Requires a token of its own for a website at another origin: `api.token` is not sent there. */
export function checkOrigins(
  { api, websites }: { api: { base_url: string }; websites: Websites },
  context: z.RefinementCtx,
): void {
  if (!Array.isArray(websites)) return;
  for (const [index, { source, base_url = '', token }] of websites.entries()) {
    const origin = urlOf(base_url)?.origin;
    if (source || token !== undefined || origin === undefined || origin === urlOf(api.base_url)?.origin) continue;
    const message = 'is missing\nSet it: `api.token` is not sent to another host.';
    context.addIssue({ code: 'custom', path: ['websites', index, 'token'], message });
  }
}
