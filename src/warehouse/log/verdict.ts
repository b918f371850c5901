import { count, counted, percent } from '../../base/observe/format.js';

/** What can be wrong with the end of a run, worst first. Only `failed` means that a website got no snapshot. */
export type ProblemKind = 'failed' | 'partial' | 'reports' | 'rejects' | 'quiet' | 'damaged' | 'clock' | 'lagging';

/** One thing that is wrong with the end of a run. */
export interface Problem {
  kind: ProblemKind;
  /** Null if it concerns no website in particular. */
  website_id: string | null;
  /** Records that were rejected, or reports that failed; 1 for whatever is not counted. */
  count: number;
  /** A sentence without a full stop. */
  message: string;
}

/** How a run ended for one website, as its receipt has it, or the rows of `snapshots` and `runs`. */
export interface WebsiteEnd {
  website_id: string;
  status: 'committed' | 'failed';
  listing_status: string | null;
  reports_status: string | null;
  pages: { listed: number; rejected: number };
  reports: { planned: number; failed: number; rejected: number };
  /** Which sources named pages that nothing names any more. */
  sources_quiet?: string | null | undefined;
  /** What is wrong with most of the rejected records. */
  rejected_for?: string | null | undefined;
  set_aside?: string | undefined;
  /** Why it is not as it should be. */
  error?: string | null | undefined;
}

/** A share of rejected records above this is no accident of single pages: what the service sends has changed. */
export const MAX_REJECT_RATIO = 0.01;

/** What is wrong with how a run ended for a website; nothing if a budget or a deadline was reached as planned. */
export function problemsOf(end: WebsiteEnd): Problem[] {
  const { website_id, status, listing_status, reports_status, pages, reports, set_aside, error } = end;
  const problems: Problem[] = [];
  const add = (kind: ProblemKind, message: string, count = 1) => problems.push({ kind, website_id, count, message });
  if (status === 'failed') add('failed', `the last run got no snapshot: ${error ?? 'no reason was recorded'}`);
  if (listing_status === 'partial') add('partial', `the listing is partial${error ? `: ${error}` : ''}`);
  // Both have one reason in common, which is reported once.
  const why = problems.length > 0 ? null : error;
  if (reports_status === 'failed') add('reports', why ?? 'the reports failed', reports.failed);
  if (reports_status === 'interrupted') add('reports', why ?? 'the reports were interrupted', reports.failed);
  if (pages.rejected > MAX_REJECT_RATIO * pages.listed || reports.rejected > MAX_REJECT_RATIO * reports.planned) {
    const all = pages.rejected + reports.rejected;
    const ofPages = pages.rejected > 0 ? [`${count(pages.rejected)} of ${counted(pages.listed, 'page')}`] : [];
    const ofReports =
      reports.rejected > 0 ? [`${count(reports.rejected)} of ${counted(reports.planned, 'report')}`] : [];
    const what = [...ofPages, ...ofReports].join(' and ');
    const were = `${what} ${all === 1 ? 'was' : 'were'} rejected, more than ${percent(MAX_REJECT_RATIO)}`;
    add('rejects', `${were}${end.rejected_for ? `: ${end.rejected_for}` : ''}`, all);
  }
  if (end.sources_quiet) add('quiet', end.sources_quiet);
  if (set_aside !== undefined) add('damaged', `a damaged journal was set aside in ${set_aside}`);
  return problems;
}

/** The exit code for what is wrong: 1 if a website got no snapshot, 3 for anything else, 0 for nothing. */
export function exitCodeOf(problems: readonly { kind: string }[]): 0 | 1 | 3 {
  if (problems.some(({ kind }) => kind === 'failed')) return 1;
  return problems.length > 0 ? 3 : 0;
}
