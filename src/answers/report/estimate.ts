import { z } from 'zod';
import { counted, dayOfMonth, percent, shareOf } from '../../base/observe/format.js';

/** The share of a whole website of Search Console that is indexed; null for one of the API. */
export const estimateRow = z.object({
  share_estimated: z.number().nullable(),
  /** The 95% interval. */
  share_low: z.number().nullable(),
  share_high: z.number().nullable(),
  /** Inspections at random since the date; a page may have had several. */
  sampled: z.int().nullable(),
  sampled_since: z.string().nullable(),
  /** Why there is none for this date. */
  no_estimate: z.string().nullable(),
  /** Pages that an inspection found not indexed, and that search still showed a week later. */
  contradicted: z.int().nullable(),
});
export type Estimate = z.infer<typeof estimateRow>;

export const NO_ESTIMATE: Estimate = {
  ...{ share_estimated: null, share_low: null, share_high: null },
  ...{ sampled: null, sampled_since: null, no_estimate: null, contradicted: null },
};

/** How much of a website is indexed: by the estimate, null where there is none; for one of the API, what is known. */
export function shareIndexed(
  counts: (Estimate & { indexed: number | null; pages: number | null }) | null,
): number | null {
  if (counts?.no_estimate) return null;
  return counts?.share_estimated ?? shareOf(counts?.indexed ?? null, counts?.pages ?? null);
}

/** `Between 61.0% and 66.0% of the site is indexed, by 5,600 random inspections since Nov 3; 8,120 pages …`. */
export function estimateSentence(estimate: Estimate, notInspected: number | null): string | null {
  const { share_low: low, share_high: high, sampled, sampled_since: since, no_estimate: why } = estimate;
  const left = notInspected ? `${counted(notInspected, 'page is', 'pages are')} not inspected yet` : null;
  if (why !== null) return `The share of the site is not estimated: ${why}${left ? `; ${left}` : ''}.`;
  const [from, to] = [percent(low), percent(high)];
  if (low === null || high === null || sampled === null || since === null) return left && `${left}.`;
  if (from === to) return left && `About ${from} of the site is indexed; ${left}.`;
  const by = `by ${counted(sampled, 'random inspection')} since ${dayOfMonth(since)}`;
  return `Between ${from} and ${to} of the site is indexed, ${by}${left ? `; ${left}` : ''}.`;
}

/** What search and inspections disagree about; null if nothing. */
export function contradictionSentence({ contradicted }: Estimate): string | null {
  return contradicted
    ? `Search still shows ${counted(contradicted, 'page')} that an inspection found not indexed.`
    : null;
}
