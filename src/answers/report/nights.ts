import { z } from 'zod';
import { grouped } from '../../base/observe/format.js';
import type { Counts, Day, Layer, Span } from '../html/charts/trend-chart.js';
import { askOf, askRows } from '../query/ask-rows.js';
import type { Reader } from '../query/reader.js';
import { NO_ESTIMATE } from './estimate.js';
import type { WebsiteFacts } from './headline.js';
import { datesOf, type Period } from './period.js';
import { balanceRow, type TrendRow } from './rows.js';

const goneRow = z.object({ snapshot_date: z.string(), gone: z.int() });
const nightRow = balanceRow.extend({ snapshot_date: z.string() });

type Value<Row> = readonly [name: string, colour: Layer['colour'], pages: (row: Row) => number];

/** The pages of a website on each date, and those that came into the index or left it since the listing before. */
export async function readNights(reader: Reader, { website, trend }: WebsiteFacts, { shown }: Period) {
  const { website_id: id, by_inspection: inspects } = website;
  const gone = await askRows(reader, 'answers/report/gone', goneRow, { website: id, ...shown });
  const moves = await askOf(reader, 'index_balance', nightRow, id, { ...shown });
  const dates = datesOf({ ...shown, since: gone[0]?.snapshot_date ?? shown.until });
  const goneOn = new Map(gone.map((row) => [row.snapshot_date, row.gone]));
  return {
    dates,
    pages: layersOf(dates, trend, [
      ['indexed', 'indexed', ({ indexed }) => indexed],
      ['not indexed', 'notIndexed', ({ not_indexed }) => not_indexed],
      [inspects ? 'no verdict yet' : 'without data', 'noData', ({ without_data }) => without_data],
      ['no longer listed', 'text', ({ snapshot_date }) => goneOn.get(snapshot_date) ?? 0],
    ]),
    moves: layersOf(dates, moves, [
      ['inspected for the first time, and indexed', 'alsoIndexed', ({ first_inspected }) => first_inspected],
      ['entered the index', 'indexed', ({ entered }) => entered],
      ['not indexed any more', 'notIndexed', ({ deindexed }) => 0 - deindexed],
      ['without data since', 'noData', ({ data_lost }) => 0 - data_lost],
      ['no longer listed since', 'text', ({ gone, retired }) => 0 - gone - retired],
    ]),
  };
}

function layersOf<Row extends { snapshot_date: string }>(
  dates: readonly string[],
  rows: readonly Row[],
  values: readonly Value<Row>[],
): Layer[] {
  const byDate = new Map(rows.map((row) => [row.snapshot_date, row]));
  const layers = values.map(([name, colour, pagesOf]): Layer => {
    const pages = dates.map((date) => byDate.get(date)).map((row) => (row ? pagesOf(row) : null));
    return { name, colour, pages };
  });
  return layers.filter(({ pages }) => pages.some((number) => number));
}

/**
 * The trend over every date of a span, starting with the first that has a complete listing. Of several websites, a date counts
 * each with its newest complete listing up to then, because one that was not listed on a date did not lose its pages.
 *
 * @param rows of each website, by date
 */
export function trendOf(rows: readonly TrendRow[], span: Span): Day[] {
  const byDate = grouped(rows, ({ snapshot_date }) => snapshot_date);
  const known = new Map<string, Counts>();
  for (const row of rows) if (row.snapshot_date < span.since) known.set(row.website_id, row);
  const days = datesOf(span).map((date): Day => {
    const listed = byDate.get(date) ?? [];
    for (const row of listed) known.set(row.website_id, row);
    return { date, counts: listed.length > 0 ? sum([...known.values()]) : null };
  });
  const first = days.findIndex(({ counts }) => counts !== null);
  return first < 0 ? [] : days.slice(first);
}

/** The counts of one website as they are; of several together, without an estimate. */
function sum(counts: readonly Counts[]): Counts {
  return counts.reduce((total, { pages, indexed }) => {
    return { ...NO_ESTIMATE, pages: total.pages + pages, indexed: total.indexed + indexed };
  });
}
