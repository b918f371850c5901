import { z } from 'zod';
import { askRows, questionOf } from '../../answers/query/ask-rows.js';
import { findAnalysis } from '../../answers/query/catalog.js';
import { comparedPeriod } from '../../answers/query/period-note.js';
import type { Reader } from '../../answers/query/reader.js';
import { FIGURES, type Headline } from '../../answers/report/headline.js';
import { type Report, readReport } from '../../answers/report/report.js';
import { counted } from '../../base/observe/format.js';
import { fitted, readRows, rowsOutput, rowsText, text, windowInput } from './rows.js';
import { toolOf } from './tool.js';

const MOST_WEBSITES = 20;
const MOST_WARNINGS = 50;
/** Several websites may monitor the same page. */
const MOST_MONITORS = 5;

const websiteOutput = z.looseObject({
  website_id: z.string(),
  quarantined: z.number().describe('Records of its newest snapshot that are in quarantine.'),
});

export const statusTool = toolOf({
  name: 'status',
  title: 'Status of the warehouse',
  description: `How fresh and complete the data is: for each website its newest snapshot, its newest run (with the reason if it failed), how many pages are monitored and how old their reports are; and what needs attention, a sentence each. Ages are in seconds, times in UTC. Returns ${MOST_WEBSITES} websites at a time; \`next_offset\` is the \`offset\` of the next ones. Ask it first when an answer looks old or too small. Example: {}`,
  input: z.strictObject({
    website: text().optional().describe('Id or name of one website (default: all).'),
    offset: z.int().min(0).default(0).describe('Websites to skip.'),
  }),
  output: z.object({
    websites: z.array(websiteOutput),
    total: z.number().describe('How many websites there are.'),
    next_offset: z.number().nullable(),
    warnings: z.array(z.string()).describe('What needs attention, worst first.'),
    more_warnings: z.number().describe('Warnings that are left out.'),
    is_syncing: z.boolean().describe('Whether a sync, or another command that writes, is running.'),
    checked_at: z.string(),
  }),
  answer: async (reader, { website, offset }, client) => {
    const only = website === undefined ? null : await reader.websiteId(website);
    const status = await client.status();
    const asked = status.websites.filter(({ website_id }) => only === null || website_id === only);
    const shown = asked.slice(offset, offset + MOST_WEBSITES);
    const quarantined = new Map(status.quarantine.map(({ website_id, records }) => [website_id, records]));
    const next = offset + shown.length;
    const { warnings, checked_at, running } = status;
    const content = {
      websites: shown.map((row) => ({ ...row, quarantined: quarantined.get(row.website_id) ?? 0 })),
      total: asked.length,
      next_offset: next < asked.length ? next : null,
      warnings: warnings.slice(0, MOST_WARNINGS),
      more_warnings: Math.max(0, warnings.length - MOST_WARNINGS),
      is_syncing: running !== null,
      checked_at,
    };
    return {
      content,
      text: `${counted(asked.length, 'website')}, ${counted(warnings.length, 'warning')}.`,
      website: only,
    };
  },
});

const figure = z.object({ now: z.number().nullable(), before: z.number().nullable() });
const headlineOutput = z.object({
  listed_on: z.string().nullable(),
  compared_with: z.string().nullable(),
  figures: z.partialRecord(z.enum(FIGURES), figure),
  not_inspected: z
    .number()
    .nullable()
    .describe('Pages of Search Console that are not inspected yet: `indexed` is what is known.'),
});

export const reportTool = toolOf({
  name: 'report',
  title: 'Report on a period',
  description: `The report on a period: its story in sentences and its headline figures. \`indexhouse report\` makes it an HTML file with charts. Stocks (pages, indexed, without_data) are those of the last listing of the period and, as \`before\`, of the one before the period; the others count pages in the period and, as \`before\`, in as many days right before it. Null is unknown: there is no listing of that time. Dates: \`2026-11-01\`, \`today\` or \`6 days ago\`, counted from the newest snapshot. Example: {"since": "6 days ago"}`,
  input: z.strictObject({
    website: text().optional().describe('Id or name of one website (default: all).'),
    since: text().optional().describe('First date (default: six days before the last).'),
    until: text().optional().describe('Last date (default: that of the newest snapshot).'),
  }),
  output: z.object({
    since: z.string(),
    until: z.string(),
    story: z.array(z.string()).describe('What happened, a sentence each.'),
    total: headlineOutput,
    websites: z.array(headlineOutput.extend({ website_id: z.string(), website_name: z.string().nullable() })),
    more_websites: z.number().describe('Websites that are not named here.'),
  }),
  answer: async (reader, asked, client) => {
    const report = await readReport(reader, { ...asked, version: client.version, now: client.now() });
    const { since, until } = report.period;
    const website = asked.website === undefined ? null : (report.websites[0]?.website.website_id ?? null);
    const period = reader.isEmpty ? null : await comparedPeriod(reader, { since, until, website }, true);
    return { content: contentOf(report), text: `Report ${since} to ${until}.`, website, period };
  },
});

function contentOf({ period, total, websites, sections }: Report) {
  return {
    since: period.since,
    until: period.until,
    story: sections.flatMap(({ story, caveats }) => [...story, ...caveats]),
    total: headlineOf(total),
    websites: websites.slice(0, MOST_WEBSITES).map(({ website: { website_id, website_name }, headline }) => {
      return { ...headlineOf(headline), website_id, website_name };
    }),
    more_websites: Math.max(0, websites.length - MOST_WEBSITES),
  };
}

function headlineOf(headline: Headline): z.infer<typeof headlineOutput> {
  const { listed_on, compared_with, not_inspected } = headline;
  const figures = Object.fromEntries(FIGURES.map((name) => [name, headline[name]]));
  return { listed_on, compared_with, not_inspected, figures };
}

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
  for (const state of states.slice(0, MOST_MONITORS)) {
    const { website_id, report_snapshot_id: snapshot } = state;
    const asked = { website: website_id, url, snapshot };
    const [report] = await askRows(reader, 'serve/dashboard/page_report', reportRow, asked);
    pages.push({ website_id, state: fittedRecord(state), report: report ? fittedRecord(report) : null });
  }
  return pages;
}

function fittedRecord(row: Readonly<Record<string, unknown>>): z.infer<typeof facts> {
  const values = z.record(z.string(), z.json()).parse(row);
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, fitted(value)]));
}
