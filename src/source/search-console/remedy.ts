import { moment } from '../../base/observe/format.js';
import { type Credentials, GCLOUD_LOGIN } from './credentials.js';

/** For messages: the account's e-mail address, or `your account`. */
export function accountOf({ file }: Pick<Credentials, 'file'>): string {
  if (file.type === 'service_account') return file.client_email ?? 'your account';
  if (file.type === 'metadata_server') return 'the service account of this machine';
  const url = 'service_account_impersonation_url' in file ? (file.service_account_impersonation_url ?? '') : '';
  return /([^/]+@[^/]+):\w+$/.exec(url)?.[1] ?? (file.type === 'external_account' ? 'your workload' : 'your account');
}

/** How to sign in again in the way that the user chose. */
export function signInAgain({ way, file, account }: Credentials): string {
  if (file.type === 'service_account' || way === 'metadata server') return 'use another account';
  const login = `indexhouse login${account ? ` --account ${account}` : ''}`;
  return `run \`${way === 'login' ? login : GCLOUD_LOGIN}\` again`;
}

/** Which credentials are used, since when, and until when they last. */
export function describe({ way, path, file, since }: Credentials): string {
  const from = since === null ? '' : ` (${path}), since ${moment(since)}`;
  const until = 'ends_at' in file && file.ends_at ? moment(file.ends_at) : 'it is revoked';
  const lasts: Partial<Record<typeof file.type, string>> = {
    service_account: 'until the key is deleted',
    authorized_user:
      way === 'gcloud' ? "until your organisation's session ends, often after 16 hours" : `until ${until}`,
    external_account_authorized_user: 'until the session of the identity pool ends',
  };
  return `${way}${from}, ${lasts[file.type] ?? 'as long as the identity exists'}`;
}

/** What to do about a refused sign-in, beside Google's own words for it. @param clocks this machine's, and Google's */
export function remedyFor(credentials: Credentials, words: string, clocks: string): string {
  const { file, path, way } = credentials;
  const account = accountOf(credentials);
  if (/timeframe|short-lived/i.test(words)) return `set this machine's clock: it shows ${clocks}`;
  if (file.type === 'service_account')
    return `if the key of ${account} was deleted, make another one with \`gcloud iam service-accounts keys create key.json --iam-account=${account}\``;
  if (file.type === 'metadata_server')
    return 'give this machine a service account with the scope webmasters.readonly, or set google.credentials';
  if (file.type === 'external_account' || !/invalid_|ReAuth/i.test(words))
    return `correct that in Google Cloud, or ${path}`;
  const testing = way === 'login' ? ' (after 7 days, if its app is in "Testing": publish it)' : '';
  return `the sign-in ended or was revoked${testing}: ${signInAgain(credentials)}`;
}
