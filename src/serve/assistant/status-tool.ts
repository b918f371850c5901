import { z } from 'zod';
import { counted } from '../../base/observe/format.js';
import { text } from './rows.js';
import { toolOf } from './tool.js';

const MOST_WEBSITES = 20;
const MOST_WARNINGS = 50;

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
