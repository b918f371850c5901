import { moment } from '../../base/observe/format.js';
import { type Credentials, GCLOUD_LOGIN } from './credentials.js';

/** For messages: the account's e-mail address, or `your account`. */
export function accountOf({ file }: Pick<Credentials, 'file'>): string {
  if (file.type === 'service_account') return file.client_email ?? 'your account';
  if (file.type === 'metadata_server') return 'the service account of this machine';
  const url = 'service_account_impersonation_url' in file ? (file.service_account_impersonation_url ?? '') : '';
  return /([^/]+@[^/]+):\w+$/.exec(url)?.[1] ?? (file.type === 'external_account' ? 'your workload' : 'your account');
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

/** What to do where Google refuses these credentials, beside Google's own words for it. */
export function remedyFor({ file, path, way, account }: Credentials): string {
  if (file.type === 'metadata_server')
    return 'give the service account of this machine the scope webmasters.readonly, or set google.credentials';
  if (way === 'login') return `run \`indexhouse login${account ? ` --account ${account}` : ''}\` again`;
  if (way === 'gcloud') return `run \`${GCLOUD_LOGIN}\` again`;
  if (file.type !== 'service_account') return `correct that in Google Cloud, or make ${path} again in the same way`;
  const { client_email: email } = file;
  return `correct that in Google Cloud, or make another key with \`gcloud iam service-accounts keys create key.json --iam-account=${email}\``;
}

/** The same where Google refuses a new sign-in. */
export const LOGIN_AGAIN =
  'run `indexhouse login` again, and allow what it asks for; docs/search-console.md, "What Google may refuse", has the fix for each error';
