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
import { RUN_LIMITS, realRunEffects } from '../../sync/context.js';
import type { Receipt } from '../../sync/receipt.js';
import { sync } from '../../sync/sync.js';
import { googleSections, startSearchConsole } from './search-console/search-console.js';
import type { Simulation, SimulationOptions } from './simulator/simulation.js';
import { apiSections, DEMO_TOKEN, startSimulator } from './simulator/simulator.js';
import { DEMO_WEBSITE_ID } from './simulator/world.js';

const FIRST_LINE = '# Written by `indexhouse demo`, which replaces this folder when it runs again.';
const MEMORY_LIMIT_BYTES = 500e6;
/** The hour at which the simulated nights are synced. */
const NIGHT_HOUR = 'T02:00:00.000Z';
/** How many nights before the last a sitemap is submitted. */
const NIGHTS_AFTER_THE_SITEMAP = 9;
/** The night of the story: much of a directory falls out. Search analytics shows a week later that visitors are lost. */
const NIGHTS_AFTER_THE_FALL = { api: 4, google: 9 };
/** A quota that makes choices necessary; the real one is 2,000. */
export const INSPECTIONS_A_DAY = 400;
/** All of the history on the first night. */
const HISTORY_DAYS = 500;
/** Nobody waits for a simulated minute. */
const INSPECTIONS_A_MINUTE = 100_000;

export type DemoSource = 'api' | 'google';

export interface DemoOptions {
  source: DemoSource;
  /** Absolute; replaced if an earlier demo made it. */
  folder: string;
  pages: number;
  nights: number;
  seed: number;
  version: string;
  logger: Logger;
  progress: Progress | null;
  signal: AbortSignal;
  /** Now, in milliseconds since 1970: the last night is the one before. */
  now: number;
}

/** The warehouse, its configuration, the HTML report on the last seven nights, its story, and what each sync did. */
export type DemoResult = Awaited<ReturnType<typeof runDemo>>;

/**
 * Runs the main job as a user would over weeks: a simulated service or Search Console, one sync a night, all in one
 * process and without any configuration. The nights end today, so that ages and `7 days ago` mean something.
 */
export async function runDemo(options: DemoOptions) {
  const startedAt = performance.now();
  const { folder, source, pages, nights, seed } = options;
  await prepareDemoFolder(folder);
  // The last one has passed, even where today's has not.
  const firstNight = `${new Date(options.now - 2 * HOUR_MS - nights * DAY_MS).toISOString().slice(0, 10)}${NIGHT_HOUR}`;
  const deindexing = { night: Math.max(1, nights - NIGHTS_AFTER_THE_FALL[source]), directory: '/blog/', share: 0.5 };
  const submission = { night: Math.max(1, nights - NIGHTS_AFTER_THE_SITEMAP), directory: '/docs/' };
  const [simulation, sections]: [Simulation, string] = await started(source, {
    clock: () => simulation.world.clock,
    seed,
    start: firstNight,
    websites: [{ id: DEMO_WEBSITE_ID, pages, deindexing, submission }],
  });
  try {
    const config = join(folder, 'indexhouse.yaml');
    await writeFile(
      config,
      `${FIRST_LINE}\n# Whom it asked has ended; what it fetched can be read.\n${sections}warehouse:\n  path: ./warehouse\n`,
    );
    const receipts = await syncNights(options, simulation);
    const tookMs = performance.now() - startedAt;
    const [warehouse, report] = [join(folder, 'warehouse'), join(folder, 'report.html')];
    const read = await withReader({ warehouse, memoryLimit: MEMORY_LIMIT_BYTES }, (reader) =>
      readReport(reader, { version: options.version, now: options.now }),
    );
    await writeDurably(report, reportPage(read));
    const story = read.sections.flatMap((section) => section.story);
    const history = read.sections.flatMap((section) => section.history);
    return { warehouse, config, report, history, story, receipts, tookMs };
  } finally {
    await simulation.close();
  }
}

/** What is simulated, and what a configuration says of it: that stays, for trying the other commands. */
async function started(source: DemoSource, options: SimulationOptions): Promise<[Simulation, sections: string]> {
  if (source === 'api') {
    const simulator = await startSimulator(options);
    return [simulator, apiSections(simulator, DEMO_TOKEN, 'unlimited')];
  }
  const google = await startSearchConsole({
    ...options,
    inspectionsPerMinute: INSPECTIONS_A_MINUTE,
    queriesPerMinute: INSPECTIONS_A_MINUTE,
  });
  return [google, googleSections(google, await google.credentials(), INSPECTIONS_A_DAY)];
}

async function syncNights(options: DemoOptions, simulator: Simulation): Promise<Receipt[]> {
  const { nights, progress, logger, version, signal } = options;
  const file = join(options.folder, 'indexhouse.yaml');
  const { google, ...loaded } = await loadConfig({ file, env: {}, cwd: options.folder });
  const config = { ...loaded, google: { ...google, requests_per_minute: INSPECTIONS_A_MINUTE } };
  const limits = { ...RUN_LIMITS, searchDays: HISTORY_DAYS, confirmation: { pauses: [0, 0], between: 0 } };
  const given = { config, version, logger, progress: null, websites: [], recoverOnly: false, signal, limits };
  const receipts: Receipt[] = [];
  progress?.start('nights', nights);
  for (let night = 1; night <= nights; night++) {
    simulator.advance(1);
    // What follows the warehouse catches up once.
    const now = () => simulator.world.clock;
    const effects = { ...realRunEffects, now, ...(night < nights ? { follow: async () => [] } : {}) };
    receipts.push(await sync({ ...given, effects }));
    progress?.advance(1, {
      requestsSpent: receipts.flatMap(({ websites }) => websites).reduce((sum, { requests }) => sum + requests.sent, 0),
    });
  }
  progress?.finish();
  return receipts;
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
