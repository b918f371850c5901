import { counted } from '../../html/figures.js';
import { type Html, html, type Part, pageLink, shortened } from '../../html/html.js';
import { count } from '../../observe/format.js';
import type { Period } from '../period.js';
import type { DeindexedRow } from '../rows.js';
import type { Section } from '../section.js';
import { commonTable } from './common-table.js';
import { command, foldedTable, note, part } from './table.js';
import { nameOfWebsite } from './website-name.js';

const STATE_CHARACTERS = 80;
const CANONICAL_CHARACTERS = 72;

/** The pages that fell out of the index, and what they have in common. */
export function deindexedPart(section: Section, period: Period): Html {
  const { rows, total, common } = section.deindexed;
  if (total === 0) return part('De-indexed pages', note('No page fell out of the index in this period.'));
  const several = section.websites.length > 1;
  const listed = foldedTable(
    [...(several ? [{ head: 'website' }] : []), { head: 'page' }, { head: 'seen on' }, { head: 'state now' }],
    rows.map((row) => [
      ...(several ? [nameOfWebsite(section, row.website_id)] : []),
      pageLink(row.url),
      html`<span class="date">${row.snapshot_date}</span>`,
      stateNow(row),
    ]),
  );
  return part(
    'De-indexed pages',
    commonTable(section, common, 'de-indexed'),
    html`<h4>The pages</h4>`,
    listed,
    rest(rows.length, total, command('deindexed_pages', { ...scope(section, period), reindexed: 'true' })),
  );
}

/** Canonicals that flipped, and what those pages have in common. */
export function flipsPart(section: Section, period: Period): Html {
  const { rows, total, common } = section.flips;
  if (total === 0) return part('Canonical flips', note('No canonical went from one URL to another in this period.'));
  const several = section.websites.length > 1;
  const listed = foldedTable(
    [
      ...(several ? [{ head: 'website' }] : []),
      { head: 'page' },
      { head: 'canonical: old → new' },
      { head: 'chosen by' },
      { head: 'seen on' },
    ],
    rows.map((row) => [
      ...(several ? [nameOfWebsite(section, row.website_id)] : []),
      pageLink(row.url, CANONICAL_CHARACTERS),
      html`${pageLink(row.from_canonical, CANONICAL_CHARACTERS, row.url)}<br>→ ${pageLink(row.to_canonical, CANONICAL_CHARACTERS, row.url)}`,
      row.chosen_by,
      html`<span class="date">${row.snapshot_date}</span>`,
    ]),
  );
  return part(
    'Canonical flips',
    commonTable(section, common, 'flipped'),
    html`<h4>The flips</h4>`,
    listed,
    rest(rows.length, total, command('canonical_flips', scope(section, period))),
  );
}

function stateNow({ index_summary_now, index_coverage_state_now, is_monitored_now }: DeindexedRow): Part {
  if (is_monitored_now === false) return 'no longer listed';
  const state = shortened(index_coverage_state_now ?? 'no data', STATE_CHARACTERS);
  return index_summary_now === 'Indexed' ? html`<b>back in the index</b>: ${state}` : state;
}

/** The parameters that an analysis needs to tell of the same websites and dates. */
function scope({ websites }: Section, { since, until }: Period): Record<string, string> {
  const [first, second] = websites;
  return { ...(first && !second ? { website: first.website.website_id } : {}), since, until };
}

function rest(shown: number, total: number, all: Html): Html {
  if (shown >= total) return note(`${counted(total, 'line')} in all. As data: `, all);
  return note(`The newest ${count(shown)} of ${count(total)}. All of them: `, all);
}
