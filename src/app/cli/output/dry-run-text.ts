import { count, counted, duration, moment } from '../../../base/observe/format.js';
import { safe } from '../../../base/observe/terminal.js';
import { SECOND_MS } from '../../../base/time.js';
import type { DryRun } from '../../../sync/dry-run.js';
import { nameOf, type WebsiteReceipt } from '../../../sync/receipt.js';
import { REASONS } from '../../../warehouse/journal/plan.js';
import { recordTable } from './output.js';
import { wrapped } from './table.js';

/**
 * The plan of a sync as text: what it costs, for which reasons it asks, and what comes first.
 *
 * @param width cells of the terminal; undefined for a file or a pipe, where nothing is shortened or wrapped
 */
export function dryRunText({ websites, totals, ...plan }: DryRun, width: number | undefined): string {
  const paragraphs = (texts: string[]) => texts.map((text) => `${wrapped(safe(text), width)}\n`).join('');
  const takes = (seconds: number | null) => (seconds === null ? 'unknown' : duration(seconds * SECOND_MS));
  const rows = websites.map(({ pages, reports, requests, limit, ...website }) => ({
    website: nameOf(website),
    pages,
    listing: website.listing_requests ?? 0,
    reports: reports.planned,
    left: reports.left ?? 0,
    requests,
    takes: takes(website.duration_seconds),
    limit: limit ?? '',
  }));
  const { pages, reports, requests, duration_seconds: seconds, ends_at } = totals;
  const sum = (of: 'listing' | 'left') => rows.reduce((all, row) => all + row[of], 0);
  const total = { website: 'all', pages, listing: sum('listing'), reports, left: sum('left'), requests };
  const first = websites.flatMap((website) =>
    website.first_pages.map((page) => ({ ...page, website: nameOf(website) })),
  );
  const ends = ends_at === null ? 'This is the plan' : `Started now, it ends at ${moment(ends_at)}`;
  const blocks = [
    recordTable(rows.length > 1 ? [...rows, { ...total, takes: takes(seconds), limit: '' }] : rows, { width }),
    paragraphs([
      ...reasonsLine(websites),
      ...(websites.length === 0 ? [] : [`${ends} if no page has changed since the last listing.`]),
    ]),
    recordTable(
      first.map(({ website, reason, url }) => ({ website, reason, 'comes first': url })),
      { width },
    ),
    paragraphs([
      ...plan.unknown_websites.map(
        (id) =>
          `${id}: no snapshot yet, so its pages are unknown until the first listing (\`indexhouse sync --max-reports 0\`).`,
      ),
      ...websites.flatMap(({ search_days_left: left, ...website }) =>
        left ? [`${nameOf(website)}: ${counted(left, 'day')} of search analytics left to read.`] : [],
      ),
      ...(plan.unfinished_run ? ['A run is in progress or was interrupted: the next sync finishes it first.'] : []),
    ]),
  ];
  return blocks.filter((block) => block !== '').join('\n');
}

/** The reasons of all websites together, in the order of the plan. */
export function reasonsLine(websites: readonly { reports: Pick<WebsiteReceipt['reports'], 'by_reason'> }[]): string[] {
  const parts = REASONS.flatMap((reason) => {
    const planned = websites.reduce((sum, { reports }) => sum + reports.by_reason[reason], 0);
    return planned > 0 ? [`${count(planned)} ${reason}`] : [];
  });
  return parts.length > 0 ? [`Reports by reason: ${parts.join(', ')}`] : [];
}
