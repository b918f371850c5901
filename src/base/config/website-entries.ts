import { z } from 'zod';
import { idProblem } from '../storage/names.js';
import { accountProblem, allWebsites, checkSource, type GoogleConfig, googleKeys, scopeOf } from './google.js';
import { mapping, says, text, tokenOrFile } from './scalars.js';

const neither = says('is neither `all` nor a list of websites', 'Write `all`, or one `- id: …` for each website.');

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
