import { z } from 'zod';
import { comparedPeriod } from '../../answers/query/period-note.js';
import { FIGURES, type Headline } from '../../answers/report/headline.js';
import { type Report, readReport } from '../../answers/report/report.js';
import { text } from './rows.js';
import { toolOf } from './tool.js';

const MOST_WEBSITES = 20;

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
