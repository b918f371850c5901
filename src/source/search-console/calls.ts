import { z } from 'zod';
import { issuesOf, jsonOf } from '../../base/validate.js';
import type { Purpose } from '../client.js';
import { SourceError } from '../errors.js';
import { looksLikeHtml } from '../walk/coverage-window.js';
import type { CallOptions, GoogleClient } from './google-client.js';
import { NOT_GOOGLE } from './secret-exchange.js';

export const SITES = '/webmasters/v3/sites';
const siteSchema = z.looseObject({ siteUrl: z.string(), permissionLevel: z.string().default('') });
/** A property as one account sees it. */
export type Site = z.infer<typeof siteSchema>;
const sitesSchema = z.looseObject({ siteEntry: z.array(siteSchema).default([]) });

/** Numbers of 64 bits are sent as text. */
const bigNumber = z.coerce.number().int().nonnegative().nullable().catch(null).default(null);
const submittedSchema = z
  .looseObject({
    path: z.string(),
    lastDownloaded: z.iso.datetime({ offset: true }).nullable().catch(null).default(null),
    errors: bigNumber,
    warnings: bigNumber,
    isPending: z.boolean().nullable().catch(null).default(null),
  })
  .transform(({ path, errors, warnings, lastDownloaded: last_downloaded, isPending: is_pending }) => {
    return { path, last_downloaded, errors, warnings, is_pending };
  });
/** A sitemap that was submitted for a property, with what Search Console says about it. */
export type SubmittedSitemap = z.output<typeof submittedSchema>;
/** Of a sitemap that was not submitted. */
export const SITEMAP_FACTS_UNKNOWN = { last_downloaded: null, errors: null, warnings: null, is_pending: null };
const sitemapsSchema = z.looseObject({ sitemap: z.array(submittedSchema).default([]) });

/** Every property that the account sees, with its permission. @throws SourceError */
export async function listSites(client: GoogleClient, purpose: Purpose): Promise<Site[]> {
  return answerIn(sitesSchema, await client.call('GET', SITES, { property: '', purpose })).siteEntry;
}

/** The sitemaps that were submitted for a property. @throws SourceError */
export async function listSitemaps(client: GoogleClient, call: CallOptions): Promise<SubmittedSitemap[]> {
  const text = await client.call('GET', `${SITES}/${encodeURIComponent(call.property)}/sitemaps`, call);
  return answerIn(sitemapsSchema, text).sitemap;
}

/** An answer, checked. @throws SourceError `bad_body` */
export function answerIn<T>(schema: z.ZodType<T>, text: string): T {
  const { data, error } = schema.safeParse(jsonOf(text));
  if (!error) return data;
  const [issue] = issuesOf(error);
  const why = looksLikeHtml(text) ? 'it is an HTML page' : `${issue?.path}: ${issue?.message}`;
  const message = `Google's answer is not as documented (${why}); ${NOT_GOOGLE}`;
  throw new SourceError('bad_body', message, { status: 200 });
}
