/** How to get an OAuth client that can sign in. */
export const CREATE =
  'create one of the type "Desktop app" (docs/search-console.md, "Set up") and download its JSON file';

/** What Google refuses while somebody signs in, and what to do about it. Without imports, because `--help` lists them. */
export const REFUSALS: Readonly<Record<string, string>> = {
  access_denied:
    'the access was not allowed: run `indexhouse login` again and click "Allow"; if the app is in "Testing", add your address to its test users or publish it',
  admin_policy_enforced:
    'a policy of your organisation blocks the client: ask its administrator to trust the client id in the Admin console, under Security → API controls',
  org_internal:
    'the app is for another organisation: sign in with an account of it, or set the app\'s user type to "External"',
  redirect_uri_mismatch: `the client has the wrong type: ${CREATE}`,
  invalid_client: `the client's secret is wrong: download its JSON file again, or ${CREATE}`,
  deleted_client: `the client was deleted: ${CREATE}`,
  disallowed_useragent: 'Google refuses embedded browsers: open the address in Chrome, Firefox, Safari or Edge',
  invalid_scope: 'the app may not ask for webmasters.readonly: enable the Search Console API in its project',
  invalid_grant: "the code was used before or is too old: run `indexhouse login` again, and check this machine's clock",
};
