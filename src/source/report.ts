import { keyOf } from '../base/url.js';
import { type Issue, validate } from '../base/validate.js';
import { urlReportSchema } from './contract/report.js';
import { SourceError } from './errors.js';
import { looksLikeHtml, whyNotJson } from './walk/coverage-window.js';

/** The outcome of requesting one page's report. Every planned report has exactly one. */
export type ReportOutcome =
  | {
      outcome: 'fetched';
      /** The body as it arrived. */
      text: string;
      /** The parsed body. */
      record: object;
      absent: string[];
      extra: Record<string, unknown> | null;
    }
  | { outcome: 'missing' | 'failed'; status: number | null; message: string }
  /** A fall, which is believed only if `again` more answers, each for itself and later, say the same. */
  | { outcome: 'unconfirmed'; message: string; again: number; extra: Record<string, unknown> | null }
  | { outcome: 'rejected'; issues: Issue[]; payload: string };

/**
 * What an error says about one page's report.
 *
 * @throws the error if no other page can be fetched either: `unauthorized`, `paused`, `Stopped`
 */
export function outcomeOf(error: unknown): ReportOutcome {
  if (!(error instanceof SourceError) || error.kind === 'unauthorized' || error.kind === 'paused') throw error;
  if (error.kind === 'bad_body') return rejected('invalid_utf8', error.message, '');
  return { outcome: error.kind === 'not_found' ? 'missing' : 'failed', status: error.status, message: error.message };
}

/** Checks the body of a 200 answer against the contract and against the requested page. */
export function judgeReport(text: string, url: string): ReportOutcome {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const what = looksLikeHtml(text) ? 'an HTML page, not JSON' : `not JSON: ${whyNotJson(error)}`;
    return rejected('invalid_json', `the body is ${what}`, text);
  }
  const verdict = validate(urlReportSchema, value);
  if (!verdict.accepted) return { outcome: 'rejected', issues: verdict.issues, payload: text };
  const { record, absent, extra } = verdict;
  if (record.url === url) return { outcome: 'fetched', text, record, absent, extra };
  const key = keyOf(url);
  if (key === null || keyOf(record.url) !== key)
    return rejected('url_mismatch', 'the report is for another URL', text, 'url');
  // The service spells this address in two ways; everything else uses the spelling of the listing.
  return { outcome: 'fetched', text, record: { ...record, url }, absent, extra };
}

function rejected(code: string, message: string, payload: string, path = ''): ReportOutcome {
  return { outcome: 'rejected', issues: [{ path, code, message }], payload };
}
