import { changeOf, counted, type Figure, percent, shareOf, signed } from '../observe/format.js';
import { safe } from '../observe/terminal.js';
import type { Report } from '../report/report.js';
import { count, figures, formatJson, formatTable } from './output.js';

/** Where the report is, and its headline, for people. */
export function reportText({ period, total, websites }: Report, file: string): string {
  const [only, second] = websites;
  const subject =
    only && !second ? (only.website.website_name ?? only.website.website_id) : `${websites.length} websites`;
  const share = percent(shareOf(total.indexed.now, total.pages.now));
  const stock = (name: string, figure: Figure) => [name, count(figure.now), signed(changeOf(figure))];
  const flow = (name: string, { now }: Figure) => [name, count(now), ''];
  const since = total.compared_with === null ? '' : `since ${total.compared_with}`;
  const table = formatTable(
    [safe(subject), ...figures('now'), { name: since, align: 'left' }],
    [
      stock('pages monitored', total.pages),
      stock(share ? `indexed (${share})` : 'indexed', total.indexed),
      flow('newly indexed', total.newly_indexed),
      flow('de-indexed', total.deindexed),
      flow('appeared', total.appeared),
      flow('disappeared', total.disappeared),
      flow('canonical flips', total.canonical_flips),
      flow('newly blocked by robots.txt', total.robots_blocked),
    ],
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
