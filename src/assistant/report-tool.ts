import { z } from 'zod';
import type { Reader } from '../analysis/reader.js';
import { UsageError } from '../exit.js';
import { count, size } from '../observe/format.js';
import type { Headline } from '../report/headline.js';
import { reportPage } from '../report/page.js';
import { type Report, readReport } from '../report/report.js';
import { basisOf, basisSchema } from './basis.js';
import { text } from './rows.js';
import { type Client, toolOf } from './tool.js';

const MOST_BYTES = 4_000_000;
const MOST_WEBSITES = 20;
const ALL = 'all';
export const REPORT_TEMPLATE = 'indexhouse://report/{website}/{since}/{until}';
export const REPORT_TYPE = 'text/html';

const figure = z.object({ now: z.number(), before: z.number().nullable() });
const FIGURES = [
  ...(['pages', 'indexed', 'without_data', 'newly_indexed', 'deindexed', 'appeared', 'disappeared'] as const),
  ...(['canonical_flips', 'robots_blocked', 'robots_unblocked'] as const),
] as const;
const headlineOutput = z.object({
  listed_on: z.string().nullable(),
  compared_with: z.string().nullable(),
  figures: z.partialRecord(z.enum(FIGURES), figure),
});

/** What a report is about. */
interface Asked {
  website?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
}

export const reportTool = toolOf({
  name: 'report',
  title: 'Report with charts',
  description: `The report on a period: its story in sentences, its headline figures, and a link to the whole report as one HTML file with charts, a resource to read or save (at most ${size(MOST_BYTES)}). Stocks (pages, indexed, without_data) are those of the last listing of the period and, as \`before\`, of the one before the period; the others count pages in the period and, as \`before\`, in as many days right before it. Dates: \`2026-11-01\`, \`today\` or \`6 days ago\`, counted from the newest snapshot. Example: {"since": "6 days ago"}`,
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
    more_websites: z.number().describe('Websites that are not named here, but in the file.'),
    uri: z.string().describe('Of the file.'),
    bytes: z.number(),
    basis: basisSchema,
  }),
  run: async (client, asked, signal) => {
    const { content, page } = await client.ask(signal, async (reader) => {
      const report = await readReport(reader, optionsOf(client, asked));
      return { content: await contentOf(reader, client, report, asked), page: boundedPage(report) };
    });
    const bytes = Buffer.byteLength(page);
    const name = `Report ${content.since} to ${content.until}`;
    return {
      content: { ...content, bytes },
      text: `${name}: ${size(bytes)}, to be read at its resource.`,
      link: { uri: content.uri, name, mimeType: REPORT_TYPE, size: bytes },
    };
  },
});

/** The HTML of a report, from the parts of its address. */
export function readReportFile(
  client: Client,
  { website, since, until }: Required<Asked>,
  signal: AbortSignal,
): Promise<string> {
  const asked = { website: website === ALL ? undefined : website, since, until };
  return client.ask(signal, async (reader) => boundedPage(await readReport(reader, optionsOf(client, asked))));
}

function optionsOf(client: Client, asked: Asked) {
  return { ...asked, version: client.version, now: client.now() };
}

async function contentOf(reader: Reader, client: Client, report: Report, { website }: Asked) {
  const { period, total, websites, sections } = report;
  const [only] = websites;
  const id = website !== undefined && only ? only.website.website_id : null;
  return {
    since: period.since,
    until: period.until,
    story: sections.flatMap(({ story }) => story),
    total: headlineOf(total),
    websites: websites.slice(0, MOST_WEBSITES).map(({ website: { website_id, website_name }, headline: figures }) => {
      return { ...headlineOf(figures), website_id, website_name };
    }),
    more_websites: Math.max(0, websites.length - MOST_WEBSITES),
    uri: `indexhouse://report/${encodeURIComponent(id ?? ALL)}/${period.since}/${period.until}`,
    basis: await basisOf(reader, id, client.now()),
  };
}

function headlineOf(headline: Headline): z.infer<typeof headlineOutput> {
  const { listed_on, compared_with } = headline;
  return { listed_on, compared_with, figures: Object.fromEntries(FIGURES.map((name) => [name, headline[name]])) };
}

/** @throws UsageError if the report is too large to send */
function boundedPage(report: Report): string {
  const page = reportPage(report);
  if (page.length <= MOST_BYTES) return page;
  throw new UsageError(
    `this report has ${count(page.length)} characters, more than can be sent: ask for one website or a shorter period, or run \`indexhouse report\``,
  );
}
