import { counted, percent } from '../../../base/observe/format.js';
import { dated, number } from '../../html/cells.js';
import { type Column, type Html, html, type Part, pageLink, shortened, table } from '../../html/html.js';
import { FELL_OUT } from '../../query/period-note.js';
import type { Period } from '../period.js';
import type { CommonRow, FallenRow, FlipRow } from '../rows.js';
import type { Section } from '../section.js';
import { command, cutNote, note, part, websiteColumn, websiteParameter } from './part.js';

const CANONICAL_CHARACTERS = 72;
const VALUE_CHARACTERS = 72;
const TINY_LIFT = 10;

const DIMENSIONS: Record<string, string> = {
  template: 'URL template',
  coverage_state: 'state before',
  fetch_status: 'page fetch before',
  blocked_by_robots: 'blocked by robots.txt before',
  crawl_age: 'days since the last crawl',
  target: 'canonical',
  target_host: 'host of the canonical',
  target_directory: 'directory of the canonical',
};

/** The pages that fell out of the index: what they have in common, and samples by the state that they went to. */
export function fallenPart(section: Section, period: Period): Html {
  const { samples, common } = section.fallen;
  if (samples.length === 0) return part('Pages that fell out', note('No page fell out of the index in this period.'));
  const columns: Column<FallenRow>[] = [
    ...websiteColumn(section),
    { head: 'Page', cell: ({ url }) => pageLink(url, undefined, samples[0]?.url) },
    { head: 'Seen on', cell: ({ snapshot_date }) => dated(snapshot_date) },
    ...(samples.some(({ last_seen_indexed: last }) => last !== null)
      ? [
          { head: 'Last seen indexed', cell: ({ last_seen_indexed: last }: FallenRow) => last && dated(last) },
          number<FallenRow>('Clicks before', ({ clicks }) => clicks),
        ]
      : []),
    { head: 'Before', cell: ({ from_state }) => shortened(from_state) },
    { head: 'What is known', cell: knownOf },
  ];
  const states = [...new Set(samples.map(({ state }) => state))];
  return part(
    'Pages that fell out',
    commonTable(section, common, 'Fell out'),
    states.map((state) => {
      const rows = samples.filter((sample) => sample.state === state);
      const fallen = rows[0]?.fallen ?? 0;
      const shown = fallen > rows.length ? `, ${rows.length} of them` : '';
      return html`<h4>To ${shortened(state)}: ${counted(fallen, 'page')}${shown}</h4>
${table(columns, rows)}`;
    }),
    note(FELL_OUT),
    note('All of them: ', command('deindexed_pages', scope(section, period))),
  );
}

/** Canonicals that flipped, and what those pages have in common. */
export function flipsPart(section: Section, period: Period): Html {
  const { rows, total, common } = section.flips;
  if (total === 0) return part('Canonical flips', note('No canonical went from one URL to another in this period.'));
  const columns: Column<FlipRow>[] = [
    ...websiteColumn(section),
    { head: 'Page', cell: ({ url }) => pageLink(url, CANONICAL_CHARACTERS, rows[0]?.url) },
    { head: 'Canonical: old → new', cell: oldAndNew },
    { head: 'Chosen by', cell: ({ chosen_by }) => chosen_by },
    { head: 'Seen on', cell: ({ snapshot_date }) => dated(snapshot_date) },
  ];
  return part(
    'Canonical flips',
    commonTable(section, common, 'Flipped'),
    html`<h4>The newest flips</h4>`,
    table(columns, rows),
    cutNote('newest', rows.length, total, command('canonical_flips', scope(section, period))),
  );
}

function oldAndNew({ url, from_canonical, to_canonical }: FlipRow): Html {
  const [from, to] = [from_canonical, to_canonical].map((one) => pageLink(one, CANONICAL_CHARACTERS, url));
  return html`${from}<br>→ ${to}`;
}

function knownOf({ index_summary_now, is_listed_now, known }: FallenRow): Part {
  const now = is_listed_now === false ? 'no longer listed' : index_summary_now === 'Indexed' ? 'back in the index' : '';
  const what = known ?? (now ? '' : 'nothing unusual');
  return html`${now && html`<b>${now}</b>`}${now && what && ': '}${what}`;
}

function scope(section: Section, { since, until }: Period): Record<string, string> {
  return { ...websiteParameter(section), since, until };
}

/** What stands out among changed pages, compared with all pages. @param which the changed ones, such as `De-indexed` */
function commonTable(section: Section, rows: readonly CommonRow[], which: string): Html {
  const title = html`<h4>What they have in common</h4>`;
  if (rows.length === 0) return html`${title}${note('Nothing stands out compared with all pages.')}`;
  const columns: Column<CommonRow>[] = [
    ...websiteColumn(section),
    { head: 'Feature', cell: ({ dimension }) => DIMENSIONS[dimension] ?? dimension.replaceAll('_', ' ') },
    {
      head: 'Value',
      cell: ({ dimension, value }) => (dimension === 'sitemap' ? pageLink : shortened)(value, VALUE_CHARACTERS),
    },
    number(which, ({ changed }) => changed),
    number('Of them', ({ share }) => share, percent),
    number('Of all pages', ({ overall_share }) => overall_share, percent),
    number(
      'Lift',
      ({ lift }) => lift,
      (lift) => `${lift >= TINY_LIFT ? Math.round(lift) : lift.toFixed(1)}×`,
    ),
  ];
  return html`${title}${table(columns, rows)}${note('Lift: how many times as common as among all pages.')}`;
}
