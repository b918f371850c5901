import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { startSearchConsole } from '../src/app/demo/search-console/search-console.js';
import type { SimulatedWebsite } from '../src/app/demo/simulator/website.js';
import { addDays, calendarDate } from '../src/base/time.js';
import { tell } from './figures.js';
import { runConfigured } from './processes.js';

/** Search shows these of a property's pages on a day, in each of these types. */
const SHOWN = { share: 13 / 60, types: ['web', 'image'] };
const askedSchema = z.object({
  ...{ startDate: z.string(), endDate: z.string(), type: z.string().default('web') },
  ...{ dimensions: z.array(z.string()), rowLimit: z.int(), startRow: z.int().default(0) },
});

/**
 * The first night of a property with the default configuration, which reads 100 days of search, and questions about it.
 *
 * @returns the megabytes of the largest
 */
export async function measureProperty(folder: string, pages: number): Promise<number> {
  const site: { website?: SimulatedWebsite } = {};
  const google = await startSearchConsole({
    websites: [{ id: 'w', pages }],
    inspectionsPerMinute: 1e6,
    queriesPerMinute: 1e6,
    setup: (app) =>
      app.addHook('preHandler', async ({ url, body }, reply) =>
        site.website && url.endsWith('/query') ? reply.send(shown(site.website, pages, body)) : undefined,
      ),
  });
  site.website = google.world.website('w');
  const config = join(folder, 'property.json');
  const access = { credentials: await google.credentials(), endpoint: google.url, requests_per_minute: 100_000 };
  const websites = [{ id: `sc-domain:${site.website.settings.domain}`, source: 'google' }];
  writeFileSync(config, JSON.stringify({ google: access, websites, warehouse: { path: join(folder, 'property') } }));
  const questions = [
    ['sync', '--log-level', 'warn'],
    ['query', 'search_presence', '--format', 'json'],
    ['query', 'search_lost', '--format', 'json'],
    ['report', '--out', join(folder, 'property.html')],
  ];
  let most = 0;
  try {
    for (const args of questions) {
      const { seconds, megabytes } = await runConfigured(args, config);
      tell(`  ${args.slice(0, 2).join(' ')}`, { 'processor seconds': seconds, MB: megabytes });
      most = Math.max(most, megabytes);
    }
  } finally {
    await google.close();
  }
  return most;
}

/** What search analytics has: other pages each day, until yesterday. */
function shown({ urls }: SimulatedWebsite, pages: number, body: unknown) {
  const { startDate, endDate, type, dimensions, rowLimit, startRow } = askedSchema.parse(body);
  const number = SHOWN.types.includes(type) ? Math.floor(pages * SHOWN.share) : 0;
  const row = (key: string, impressions: number) => ({ keys: [key], clicks: 0, impressions, ctr: 0, position: 9 });
  if (dimensions[0] === 'date') {
    const today = calendarDate(new Date(), 'America/Los_Angeles');
    const rows = [];
    for (let date = startDate; date <= endDate && date < today && number > 0; date = addDays(date, 1)) {
      rows.push(row(date, number));
    }
    return { rows };
  }
  const day = Date.parse(startDate) / 86_400_000;
  const length = Math.max(0, Math.min(rowLimit, number - startRow));
  return { rows: Array.from({ length }, (_, at) => row(urls.url((startRow + at + day * 131) % pages), 1)) };
}
