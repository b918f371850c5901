import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withReader } from '../../answers/query/reader.js';
import { reportPage } from '../../answers/report/page.js';
import { readReport } from '../../answers/report/report.js';
import { loadConfig } from '../../base/config/load.js';
import { UsageError } from '../../base/exit.js';
import type { Logger } from '../../base/observe/log.js';
import type { Progress } from '../../base/observe/progress.js';
import { exists, makeFolder, writeDurably } from '../../base/storage/durable.js';
import { DAY_MS, HOUR_MS } from '../../base/time.js';
import { type RunEffects, realRunEffects } from '../../sync/context.js';
import type { Receipt } from '../../sync/receipt.js';
import { sync } from '../../sync/sync.js';
import { DEMO_TOKEN, type Simulator, startSimulator } from './simulator/simulator.js';
import { DEMO_WEBSITE_ID } from './simulator/world.js';

const FIRST_LINE = '# Written by `indexhouse demo`, which replaces this folder when it runs again.';
const MEMORY_LIMIT_BYTES = 500e6;
/** The hour at which the simulated nights are synced. */
const NIGHT_HOUR = 'T02:00:00.000Z';
/** How many nights before the last a sitemap is submitted. */
const NIGHTS_AFTER_THE_SITEMAP = 9;
/** The night of the story: much of one directory falls out of the index, five nights before the last. */
const NIGHTS_AFTER_THE_FALL = 4;

export interface DemoOptions {
  /** Absolute; replaced if an earlier demo made it. */
  folder: string;
  pages: number;
  nights: number;
  seed: number;
  version: string;
  log: Logger;
  progress: Progress | null;
  signal: AbortSignal;
  /** Now, in milliseconds since 1970: the last night is the one before. */
  now: number;
}

/** The warehouse, its configuration, the HTML report on the last seven nights, its story, and what each sync did. */
export type DemoResult = Awaited<ReturnType<typeof runDemo>>;

/**
 * Runs the main job as a user would over two weeks: a simulated service, one sync a night, all in one process and
 * without any configuration. The nights end today, so that ages and `7 days ago` mean something.
 */
export async function runDemo(options: DemoOptions) {
  const startedAt = performance.now();
  const { folder, pages, nights, seed } = options;
  await prepareDemoFolder(folder);
  // The last one has passed, even where today's has not.
  const firstNight = `${new Date(options.now - 2 * HOUR_MS - nights * DAY_MS).toISOString().slice(0, 10)}${NIGHT_HOUR}`;
  const deindexing = { night: Math.max(1, nights - NIGHTS_AFTER_THE_FALL), directory: '/blog/', share: 0.5 };
  const submission = { night: Math.max(1, nights - NIGHTS_AFTER_THE_SITEMAP), directory: '/docs/' };
  const simulator: Simulator = await startSimulator({
    clock: () => simulator.world.now.getTime(),
    seed,
    start: firstNight,
    websites: [{ id: DEMO_WEBSITE_ID, pages, deindexing, submission }],
    keys: [{ token: DEMO_TOKEN, label: 'demo', websites: [DEMO_WEBSITE_ID] }],
  });
  try {
    const name = simulator.world.websites[0]?.domain ?? DEMO_WEBSITE_ID;
    await writeFile(join(folder, 'indexhouse.yaml'), demoConfig(simulator.url, name));
    const receipts = await syncNights(options, simulator);
    const tookMs = performance.now() - startedAt;
    const [warehouse, report] = [join(folder, 'warehouse'), join(folder, 'report.html')];
    const read = await withReader({ warehouse, memoryLimit: MEMORY_LIMIT_BYTES }, (reader) =>
      readReport(reader, { version: options.version, now: options.now }),
    );
    await writeDurably(report, reportPage(read));
    const story = read.sections.flatMap((section) => section.story);
    return { warehouse, config: join(folder, 'indexhouse.yaml'), report, story, receipts, tookMs };
  } finally {
    await simulator.close();
  }
}

async function syncNights(options: DemoOptions, simulator: Simulator): Promise<Receipt[]> {
  const { nights, progress, log, version, signal } = options;
  const config = await loadConfig({ file: join(options.folder, 'indexhouse.yaml'), env: {}, cwd: options.folder });
  const receipts: Receipt[] = [];
  progress?.start('nights', nights);
  for (let night = 1; night <= nights; night++) {
    simulator.advance(1);
    const effects = clockOf(simulator);
    receipts.push(
      await sync({ config, version, log, progress: null, websites: [], recoverOnly: false, signal, effects }),
    );
    progress?.advance(1, {
      requestsSpent: receipts.flatMap(({ websites }) => websites).reduce((sum, { requests }) => sum + requests.sent, 0),
    });
  }
  progress?.finish();
  return receipts;
}

/** The world's own clock: a night begins when the simulator says, and time then passes as usual. */
function clockOf(simulator: Simulator): RunEffects {
  const realStart = performance.now();
  const night = simulator.world.now.getTime();
  return { ...realRunEffects, now: () => Math.round(night + performance.now() - realStart) };
}

/**
 * Creates the demo's folder; one of an earlier demo is replaced, and nothing else.
 *
 * @throws UsageError if the folder is not a demo's
 */
async function prepareDemoFolder(folder: string): Promise<void> {
  const config = join(folder, 'indexhouse.yaml');
  if (await exists(folder)) {
    const ours = (await exists(config)) && (await readFile(config, 'utf8')).startsWith(FIRST_LINE);
    if (!ours) throw new UsageError(`${folder} is there already and is no earlier demo: choose another with --folder`);
    await rm(folder, { recursive: true });
  }
  await makeFolder(folder);
}

/** The configuration that the demo ran with, for trying the other commands on its warehouse. */
function demoConfig(baseUrl: string, name: string): string {
  return `${FIRST_LINE}
api:
  base_url: ${baseUrl}      # the simulated service; it ended with the demo
  token: ${DEMO_TOKEN}
  requests_per_minute: unlimited
websites:
  - id: ${DEMO_WEBSITE_ID}
    name: ${name}
warehouse:
  path: ./warehouse
`;
}
