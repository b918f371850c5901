import type { RequestCount } from '../../src/app/demo/simulator/faults.js';
import * as simulated from '../../src/app/demo/simulator/simulator.js';
import { createLogger } from '../../src/base/observe/log.js';
import { RUN_LIMITS } from '../../src/sync/context.js';
import * as run from '../../src/sync/sync.js';
import { atEnd, type OnFinished } from './folder.js';

/** The clocks of those who sync, by the origin of the service that they ask. */
const clocks = new Map<string, () => number>();

/**
 * A silent sync of every website in this process. If its service is one of ours, it has the clock of its client: nobody's
 * clock is wrong.
 */
export function sync(options: Partial<run.SyncOptions> & Pick<run.SyncOptions, 'config'>): ReturnType<typeof run.sync> {
  const { effects, config } = options;
  if (effects) clocks.set(new URL(config.api.base_url).origin, effects.now);
  const { signal } = new AbortController();
  const silent = { version: 'test', logger: createLogger({ level: 'silent' }), progress: null, signal };
  // Nobody waits for second looks.
  const limits = { ...RUN_LIMITS, confirmation: { pauses: [0, 0, 0], between: 0 }, ...options.limits };
  return run.sync({ ...silent, websites: [], recoverOnly: false, ...options, limits });
}

/** From now on every service has the real clock, as commands and processes have. */
export function forgetClocks(): void {
  clocks.clear();
}

/** The time of a service, in milliseconds since 1970. */
export function timeAt(origin: string): number {
  return (clocks.get(origin) ?? Date.now)();
}

/** A simulated service that has the clock of its client, and is closed in the end. */
export async function startSimulator(
  options: simulated.SimulatorOptions = {},
  onFinished: OnFinished = atEnd,
): Promise<simulated.Simulator> {
  let origin = '';
  const simulator = await simulated.startSimulator({ clock: () => timeAt(origin), ...options });
  origin = simulator.origin;
  onFinished(() => simulator.close());
  return simulator;
}

/** How often the report of each page was requested of a simulated service, and answered. */
export function reportCounts({ requests }: Pick<simulated.Simulator, 'requests'>): Map<string, RequestCount> {
  const counts = [...requests.byRequest].flatMap(([request, count]) => {
    const url = /\/v1\/url-report\?url=([^&]*)$/.exec(request)?.[1];
    return url === undefined ? [] : [[decodeURIComponent(url), count] as const];
  });
  return new Map(counts);
}
