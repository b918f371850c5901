import type { Website } from '../config/websites.js';
import { Stopped } from '../exit.js';
import type { Client, RequestCounts } from '../source/client.js';
import { readWindow, type Window } from '../source/coverage-window.js';
import { type FailureKind, SourceError } from '../source/errors.js';
import { listingPath } from '../source/links.js';
import { type CheckResult, resultsOf } from './check-result.js';
import { factOf } from './service.js';

const website = resultsOf('website');

const REMEDY: Partial<Record<FailureKind, string>> = {
  unauthorized: 'Check the token of this website, and the environment variable that it reads.',
  forbidden: 'Give the key access to this website, or remove the website from the configuration.',
  not_found: 'Check its id under websites; it may have been deleted.',
  redirect: 'Set api.base_url to the final address.',
  throttled: 'Lower api.requests_per_minute, or find out who else uses the key.',
  bad_body: 'Check api.base_url, and whether the API changed.',
};

export interface WebsiteCheck {
  finding: CheckResult;
  /** As the service counts them; 0 where it does not tell. */
  pages: number;
}

/** Asks for one entry of a website's listing. */
export async function checkWebsite(
  { id, name }: Website,
  client: Client,
  input: { counts: RequestCounts; known: readonly string[]; isBaseFound: boolean },
): Promise<WebsiteCheck> {
  const called = name ? `${name} (${id})` : id;
  try {
    const window = readWindow(await client.get(listingPath(id, 0, 1), { lane: id, counts: input.counts }));
    return { finding: judged(called, window), pages: window.pagination.count ?? 0 };
  } catch (error) {
    if (error instanceof Stopped) return failed(called, 'no answer in time', 'Try again later.');
    if (!(error instanceof SourceError)) throw error;
    return refused(called, error, input);
  }
}

function judged(called: string, { entries, pagination, drift }: Window): CheckResult {
  const verdicts = entries.flatMap((entry) => ('verdict' in entry ? [entry.verdict] : []));
  const broken = verdicts.flatMap((verdict) => (verdict.accepted ? [] : verdict.issues))[0];
  if (broken) {
    return website.warning(
      `${called}: an entry breaks the contract (${broken.path}: ${broken.message})`,
      'Such entries are quarantined; check whether the API changed.',
    );
  }
  const unknown = verdicts.flatMap((verdict) => (verdict.accepted ? Object.keys(verdict.extra ?? {}) : []));
  const strange = [...unknown, ...drift.map(({ field }) => field)];
  const pages = pagination.count ?? null;
  if (strange.length > 0) {
    return website.warning(
      `${called}: readable, but differs from the contract in: ${strange.join(', ')}`,
      'Nothing to do: unknown fields are kept, missing ones become null, and both are recorded as drift.',
    );
  }
  if (pages === 0)
    return website.warning(`${called}: has no monitored pages`, 'Add pages to the website in the service.');
  return website.ok(`${called}: readable, ${pages === null ? 'pages not counted' : `${pages} pages`}`);
}

function refused(
  called: string,
  error: SourceError,
  { known, isBaseFound }: { known: readonly string[]; isBaseFound: boolean },
): WebsiteCheck {
  if (error.kind === 'bad_request') {
    const finding = website.warning(
      `${called}: a window of one entry is refused (${error.message})`,
      'Nothing to do if a sync works: it omits `limit` if the service refuses it.',
    );
    return { finding, pages: 0 };
  }
  if (error.kind === 'not_found' && !isBaseFound) {
    const remedy =
      'Check the path of api.base_url: the key was not found there either. Then check the id under websites.';
    return failed(called, factOf(error), remedy);
  }
  const readable = known.length > 0 ? ` The key has access to: ${known.join(', ')}.` : '';
  const isAbsent = error.kind === 'not_found' || error.kind === 'forbidden';
  const remedy = REMEDY[error.kind] ?? 'Try again later; then check api.base_url.';
  return failed(called, factOf(error), isAbsent ? remedy + readable : remedy);
}

function failed(called: string, message: string, remedy: string): WebsiteCheck {
  return { finding: website.error(`${called}: ${message}`, remedy), pages: 0 };
}
