import { changeOf, counted, type Figure, percent, shareOf, signed } from '../html/figures.js';
import { safe } from '../observe/terminal.js';
import type { Headline } from '../report/headline.js';
import type { Report } from '../report/report.js';
import { count, formatJson, formatTable } from './output.js';

/** Where the report is, and its headline, for people. */
export function reportText(report: Report, file: string): string {
  const { period, total, websites } = report;
  const [only, second] = websites;
  const subject =
    only && !second ? (only.website.website_name ?? only.website.website_id) : `${websites.length} websites`;
  const rows = rowsOf(total);
  const table = formatTable(
    [{ name: safe(subject) }, { name: 'now', align: 'right' }, { name: changeHead(total) }],
    rows,
  );
  const days = `${period.since} to ${period.until} (${counted(period.days, 'day')})`;
  return `${table}\nReport for ${days}: ${safe(file)}\n`;
}

/** The same for a program: each figure now and before (null where there is nothing to compare with). */
export function reportJson({ made_at, period, total, websites }: Report, file: string): string {
  const { since, until, days } = period;
  return formatJson({
    file,
    made_at,
    since,
    until,
    days,
    total,
    websites: websites.map(({ website, headline }) => ({
      website_id: website.website_id,
      website_name: website.website_name,
      ...headline,
    })),
  });
}

function changeHead({ compared_with }: Headline): string {
  return compared_with === null ? '' : `since ${compared_with}`;
}

function rowsOf(total: Headline): string[][] {
  const stock = (name: string, figure: Figure) => {
    const change = changeOf(figure);
    return [name, count(figure.now), change === null ? '' : signed(change)];
  };
  const share = percent(shareOf(total.indexed.now, total.pages.now));
  return [
    stock('pages monitored', total.pages),
    stock(share ? `indexed (${share})` : 'indexed', total.indexed),
    ['newly indexed', count(total.newly_indexed.now), ''],
    ['de-indexed', count(total.deindexed.now), ''],
    ['appeared', count(total.appeared.now), ''],
    ['disappeared', count(total.disappeared.now), ''],
    ['canonical flips', count(total.canonical_flips.now), ''],
    ['newly blocked by robots.txt', count(total.robots_blocked.now), ''],
  ];
}
