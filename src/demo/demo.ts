import { join } from 'node:path';
import { withReader } from '../analysis/reader.js';
import { loadConfig } from '../config/load.js';
import type { Logger } from '../observe/log.js';
import type { Progress } from '../observe/progress.js';
import { reportPage } from '../report/page.js';
import { readReport } from '../report/report.js';
import { type RunEffects, realRunEffects } from '../run/context.js';
import type { Receipt } from '../run/receipt.js';
import { sync } from '../run/sync.js';
import { DEMO_TOKEN, type Simulator, startSimulator } from '../simulator/simulator.js';
import { DEMO_WEBSITE_ID } from '../simulator/world.js';
import { writeDurably } from '../storage/durable.js';
import { DAY_MS } from '../time.js';
import { prepareDemoFolder, writeDemoConfig } from './demo-folder.js';

const MEMORY_LIMIT_BYTES = 500e6;
/** The hour at which the simulated nights are synced. */
const NIGHT_HOUR = 'T02:00:00.000Z';
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

export interface DemoResult {
  warehouse: string;
  config: string;
  /** The HTML report on the last seven nights. */
  report: string;
  receipts: Receipt[];
  tookMs: number;
}

/**
 * Runs the main job as a user would over two weeks: a simulated service, one sync a night, all in one process and
 * without any configuration. The nights end today, so that ages and `7 days ago` mean something.
 */
export async function runDemo(options: DemoOptions): Promise<DemoResult> {
  const startedAt = performance.now();
  const { folder, pages, nights, seed } = options;
  await prepareDemoFolder(folder);
  const firstNight = `${new Date(options.now - nights * DAY_MS).toISOString().slice(0, 10)}${NIGHT_HOUR}`;
  const deindexing = { night: Math.max(1, nights - NIGHTS_AFTER_THE_FALL), directory: '/blog/', share: 0.5 };
  const simulator = await startSimulator({
    seed,
    start: firstNight,
    websites: [{ id: DEMO_WEBSITE_ID, pages, deindexing }],
    keys: [{ token: DEMO_TOKEN, label: 'demo', websites: [DEMO_WEBSITE_ID] }],
  });
  try {
    const name = simulator.world.websites[0]?.domain ?? DEMO_WEBSITE_ID;
    await writeDemoConfig(folder, { baseUrl: simulator.url, token: DEMO_TOKEN, website: DEMO_WEBSITE_ID, name });
    const receipts = await syncNights(options, simulator);
    const tookMs = performance.now() - startedAt;
    const [warehouse, report] = [join(folder, 'warehouse'), join(folder, 'report.html')];
    await writeDemoReport(warehouse, { file: report, version: options.version, now: options.now });
    return { warehouse, config: join(folder, 'indexhouse.yaml'), report, receipts, tookMs };
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

/** The world's own clock: a night begins when the simulator says, and time passes in it as usual. */
function clockOf(simulator: Simulator): RunEffects {
  const realStart = performance.now();
  const night = simulator.world.now.getTime();
  return { ...realRunEffects, now: () => Math.round(night + performance.now() - realStart) };
}

/** Writes the report on the demo's last seven nights. */
async function writeDemoReport(
  warehouse: string,
  { file, version, now }: { file: string; version: string; now: number },
): Promise<void> {
  const options = { warehouse, memoryLimit: MEMORY_LIMIT_BYTES };
  const report = await withReader(options, (reader) => readReport(reader, { version, now }));
  await writeDurably(file, reportPage(report));
}
