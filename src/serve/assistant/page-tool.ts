import { z } from 'zod';
import { askRows, questionOf } from '../../answers/query/ask-rows.js';
import { findAnalysis } from '../../answers/query/catalog.js';
import type { Reader } from '../../answers/query/reader.js';
import { fitted, readRows, rowsOutput, rowsText, text, windowInput } from './rows.js';
import { toolOf } from './tool.js';

/** Several websites may monitor the same page. */
const MOST_WEBSITES = 5;

const facts = z.record(z.string(), z.unknown());
const stateRow = z.looseObject({ website_id: z.string(), report_snapshot_id: z.string().nullable() });
const reportRow = z.looseObject({});

export const pageTool = toolOf({
  name: 'page',
  title: 'Everything of one page',
  description:
    'What is known of one page, by its whole URL: sentences on what it is now (index, crawl, canonical, sitemap, fetch, robots.txt, report, listing) and what changed, newest night first; its state as columns; and its newest URL report with all fields of the service. One row of `rows` is a sentence, or a night with a change. Times are in UTC. An unknown URL is an error that lists similar ones. Example: {"url": "https://www.example.com/blog/guide"}',
  input: z.strictObject({
    url: text().describe("The page's whole URL, as it is listed."),
    website: text().optional().describe('Id or name of one website, where several monitor the page.'),
    ...windowInput,
  }),
  output: z.object({
    url: z.string(),
    ...rowsOutput,
    pages: z
      .array(
        z.object({
          website_id: z.string(),
          state: facts.describe('Last listing, last report, and when it was seen; columns of `page_state`.'),
          report: facts.nullable().describe('The newest report; columns of `url_reports`. Null without one.'),
        }),
      )
      .describe('The page, once for each website that lists it.'),
  }),
  answer: async (reader, { url, website: named, limit, offset }) => {
    const given = new Map(Object.entries({ url, ...(named === undefined ? {} : { website: named }) }));
    const question = await questionOf(reader, findAnalysis('page'), given);
    const website = question.website ?? null;
    const rows = await readRows(reader, question, { limit, offset });
    const content = { url, ...rows, pages: await readStates(reader, url, website) };
    return { content, text: rowsText(rows), website };
  },
});

async function readStates(reader: Reader, url: string, website: string | null) {
  const states = await askRows(reader, 'serve/dashboard/page', stateRow, { website, url });
  const pages: { website_id: string; state: z.infer<typeof facts>; report: z.infer<typeof facts> | null }[] = [];
  for (const state of states.slice(0, MOST_WEBSITES)) {
    const { website_id, report_snapshot_id: snapshot } = state;
    const [report] = await askRows(reader, 'serve/dashboard/page_report', reportRow, {
      website: website_id,
      url,
      snapshot,
    });
    pages.push({ website_id, state: fittedRecord(state), report: report ? fittedRecord(report) : null });
  }
  return pages;
}

function fittedRecord(row: Readonly<Record<string, unknown>>): z.infer<typeof facts> {
  const values = z.record(z.string(), z.json()).parse(row);
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, fitted(value)]));
}
