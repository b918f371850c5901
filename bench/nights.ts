import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEMO_TOKEN, startSimulator } from '../src/app/demo/simulator/simulator.js';
import { DEMO_WEBSITE_ID } from '../src/app/demo/simulator/world.js';
import { configSchema } from '../src/base/config/schema.js';
import { createLogger } from '../src/base/observe/log.js';
import { realRunEffects } from '../src/sync/context.js';
import { sync } from '../src/sync/sync.js';
import { REASONS } from '../src/warehouse/journal/plan.js';
import { judge, median, print, whole } from './figures.js';

/**
 * What the nights after the first one cost with the default configuration: 60 of them, a day apart on the simulator's
 * clock, in a world where a tenth of the pages is visited again in a night and in one where few are. Requests are
 * counted by reason.
 *
 * Run with: npm run bench:nights
 */
const PAGES = Number(process.env['BENCH_PAGES'] ?? 20_000);
const NIGHTS = Number(process.env['BENCH_NIGHTS'] ?? 60);
/** Share of the pages that are visited again in a night. */
const WORLDS = [0.1, 0.002];
/** An even share is a thirtieth of the pages a night: each report is fetched again within 30 days. */
const EVEN_NIGHTS = 30;
const AIM = 2;

type Night = Awaited<ReturnType<typeof syncNights>>[number];

for (const recrawled of WORLDS) {
  const [first, ...later] = await syncNights(recrawled);
  print(`${whole(PAGES)} pages, ${recrawled * 100} % visited again in a night; first night: ${shown(first)}`);
  for (const [at, night] of later.entries()) print(`  night ${at + 2}: ${shown(night)}`);
  print('  of the later nights: least, median, most');
  const range = (name: string, of: (night: Night) => number) => {
    const values = later.map(of);
    print(`  ${name}: ${[Math.min(...values), median(values), Math.max(...values)].map(whole).join(', ')}`);
  };
  range('requests', ({ requests }) => requests);
  for (const reason of REASONS) range(reason, ({ reports }) => reports[reason]);
  const most = Math.max(...later.map(({ reports }) => reports.oldest));
  judge('  most reports of unchanged pages in a night ÷ an even share', [(most * EVEN_NIGHTS) / PAGES], {
    atMost: AIM,
  });
}
print('again: npm run bench:nights');

function shown(night: Night | undefined): string {
  if (!night) return '';
  const reasons = Object.entries(night.reports).map(([reason, reports]) => `${whole(reports)} ${reason}`);
  return `${whole(night.requests)} requests; reports: ${reasons.join(', ')}`;
}

async function syncNights(recrawled: number) {
  const folder = mkdtempSync(join(tmpdir(), 'indexhouse-bench-'));
  const simulator = await startSimulator({ websites: [{ id: DEMO_WEBSITE_ID, pages: PAGES, recrawled }] });
  const config = {
    ...configSchema.parse({
      api: { base_url: simulator.url, token: DEMO_TOKEN, requests_per_minute: 'unlimited' },
      warehouse: { path: folder },
    }),
    file: join(folder, 'indexhouse.yaml'),
  };
  const logger = createLogger({ level: 'warn', destination: process.stderr, color: false, secrets: [] });
  const { signal } = new AbortController();
  const base = { config, version: 'bench', logger, progress: null, websites: [], recoverOnly: false, signal };
  const nights = [];
  try {
    for (let night = 0; night <= NIGHTS; night++) {
      simulator.advance(1);
      const [begun, started] = [simulator.world.now.getTime(), performance.now()];
      const now = () => Math.round(begun + performance.now() - started);
      const [website] = (await sync({ ...base, effects: { ...realRunEffects, now } })).websites;
      if (website?.reports_status !== 'complete') throw new Error(`night ${night + 1} ended as ${website?.error}`);
      nights.push({ requests: website.requests.sent, reports: website.reports.by_reason });
    }
    return nights;
  } finally {
    await simulator.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
