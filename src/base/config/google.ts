import { z } from 'zod';
import { safe } from '../observe/terminal.js';
import { baseUrl, duration, listOf, mapping, path, says, text, whole } from './scalars.js';

const DOMAIN_ID = /^sc-domain:([a-z0-9_-]+\.)+[a-z0-9-]+$/;

/** `google`: how Search Console is asked. */
export const google = mapping({
  credentials: path()
    .optional()
    .describe(
      'File of a service account or of a user, relative to this file; by default GOOGLE_APPLICATION_CREDENTIALS, else that of `gcloud auth application-default login`.',
    ),
  quota_project: text('the id of a project')
    .optional()
    .describe("Google Cloud project that requests count for; by default that of the user's credentials."),
  requests_per_minute: whole(1, 100_000).prefault(600).describe('Requests per minute, for each property.'),
  concurrency: whole(1, 256).prefault(24).describe('Concurrent requests.'),
  forget_after: duration()
    .prefault('90d')
    .describe('How long a page stays in the listing that no sitemap and no search traffic names any more.'),
  endpoint: baseUrl('Write it as https://searchconsole.googleapis.com.')
    .prefault('https://searchconsole.googleapis.com')
    .describe('Address of the interface, for tests: https, except on loopback.'),
});

/** Section `google`, parsed. */
export type GoogleConfig = z.output<typeof google>;

/** `websites`: all properties. */
export const allProperties = mapping({
  all: z.literal(true, says('is not true', 'Write true, or one `- id: …` for each website.')),
  source: z.literal('google', says('is not google', 'Write `source: google`; `websites: all` is for `api`.')),
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
export const googleKeys = {
  inspections_per_day: whole(1, 100_000)
    .optional()
    .describe('With `source: google`: for each property; 2000 if left out.'),
  properties: prefixes.describe(
    'With `source: google`: URL prefixes whose quota adds to its own; "auto": all below it.',
  ),
  sitemaps: sitemaps.describe('With `source: google`: addresses; "auto": those of Search Console and robots.txt.'),
};

const SERVICE_KEYS = ['base_url', 'token', 'token_file'];

/** Refuses the keys of the other source; with `source: google`, ids that are no properties of Search Console. */
export function checkSource(entry: { id: string; source?: 'google' | undefined }, context: z.RefinementCtx): void {
  const isGoogle = entry.source === 'google';
  const message = isGoogle
    ? 'is not for `source: google`\nRemove it: section `google` names the credentials.'
    : 'is for `source: google` only\nRemove it, or add `source: google` to this website.';
  for (const key of Object.keys(entry).filter((key) => (isGoogle ? SERVICE_KEYS.includes(key) : key in googleKeys))) {
    context.addIssue({ code: 'custom', path: [key], message });
  }
  const problem = isGoogle ? propertyProblem(entry.id) : null;
  if (problem) context.addIssue({ code: 'custom', path: ['id'], message: problem });
}

/** Why an id is not that of a property: Search Console takes it to the letter, the slash at the end included. */
export function propertyProblem(id: string): string | null {
  if (DOMAIN_ID.test(id)) return null;
  const forms = 'sc-domain:example.com for a domain, https://www.example.com/ for what begins with that';
  if (!isWebAddress(id) || /[?#]/.test(id)) return `is not a property of Search Console\nWrite ${forms}.`;
  return id.endsWith('/') ? null : `lacks the slash at its end\nWrite ${safe(id)}/.`;
}

function isWebAddress(value: string): boolean {
  return /^https?:\/\/[^/@\s]+(\/\S*)?$/.test(value) && URL.canParse(value);
}
