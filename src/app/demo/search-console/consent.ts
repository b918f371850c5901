import { createHash, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { html } from '../../../answers/html/html.js';
import { isLoopback } from '../../../base/config/scalars.js';
import { urlOf } from '../../../base/url.js';

/** What somebody may do on the consent page; each but the first is a refusal that Google documents. */
const OUTCOMES: Readonly<Record<string, string>> = {
  allow: 'Allow',
  testing: 'Allow, with an app in "Testing" (ends after 7 days)',
  unticked: 'Allow, without the permission for Search Console',
  access_denied: 'Do not allow',
  admin_policy_enforced: 'A policy of the organisation blocks the client',
  org_internal: 'The app is for another organisation',
  redirect_uri_mismatch: 'The client has the wrong type',
  deleted_client: 'The client was deleted',
};
/** What Google sends back to the program; it shows the others as an error page. */
const SENT_BACK = ['access_denied', 'allow', 'testing', 'unticked'];
const TESTING_S = 604_799;

const askedSchema = z.object({
  client_id: z.string(),
  redirect_uri: z.string().refine((uri) => isLoopback(urlOf(uri)?.hostname ?? ''), 'redirect_uri_mismatch'),
  response_type: z.literal('code'),
  scope: z.string(),
  state: z.string(),
  code_challenge: z.string().regex(/^[\w-]{43}$/),
  code_challenge_method: z.literal('S256'),
  access_type: z.literal('offline'),
  outcome: z.enum(Object.keys(OUTCOMES)).optional(),
});

/** The page where a user allows the access, and the codes that it gives. */
export class Consent {
  readonly #codes = new Map<string, { asked: z.infer<typeof askedSchema>; outcome: string }>();

  /** @returns the page, or where the browser goes from it. @throws ZodError for a request that Google refuses */
  answer(query: unknown): { page: string } | { location: string } {
    const asked = askedSchema.parse(query);
    const { outcome, redirect_uri, state, scope } = asked;
    if (outcome === undefined) return { page: consentPage(asked) };
    if (!SENT_BACK.includes(outcome)) return { page: html`<h1>Access blocked</h1><p>Error 400: ${outcome}</p>`.text };
    const code = `4/${randomUUID()}`;
    this.#codes.set(code, { asked, outcome });
    const answer = outcome === 'access_denied' ? { error: outcome } : { code, scope };
    return { location: `${redirect_uri}/?${new URLSearchParams({ ...answer, state })}` };
  }

  /** What a code was given for, once. Undefined for a wrong code, verifier or redirect. */
  redeem({ code = '', code_verifier = '', redirect_uri }: Readonly<Record<string, string>>) {
    const { asked, outcome } = this.#codes.get(code) ?? {};
    this.#codes.delete(code);
    const challenge = createHash('sha256').update(code_verifier).digest('base64url');
    if (!asked || asked.code_challenge !== challenge || asked.redirect_uri !== redirect_uri) return undefined;
    const scope = outcome === 'unticked' ? '' : asked.scope;
    return { scope, ...(outcome === 'testing' ? { refresh_token_expires_in: TESTING_S } : {}) };
  }
}

function consentPage({ outcome: _, ...asked }: z.infer<typeof askedSchema>): string {
  const links = Object.entries(OUTCOMES).map(([outcome, title]) => {
    const query = new URLSearchParams({ ...asked, outcome });
    return html`<li><a href="?${query.toString()}">${title}</a></li>`;
  });
  const head = html`<!doctype html><html lang="en"><meta charset="utf-8"><title>Simulated Google</title>`;
  return html`${head}<main><h1>indexhouse wants to read Search Console</h1><p>${asked.scope}</p><ul>${links}</ul></main></html>`
    .text;
}
