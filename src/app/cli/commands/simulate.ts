import { once } from 'node:events';
import { prettifyError, ZodError } from 'zod';
import { Failure, UsageError } from '../../../base/exit.js';
import { DAY_MS, HOUR_MS } from '../../../base/time.js';
import { type Simulator, type SimulatorOptions, startSimulator } from '../../demo/simulator/simulator.js';
import type { Globals } from '../command.js';
import { EXIT, type Io, stoppable } from '../io.js';
import { reasonOf } from '../serving/http-server.js';

type Settings = 'port' | 'host' | 'seed' | 'nights' | 'rateLimit' | 'rateWindow' | 'limiter' | 'rateHeaders';

export interface Flags extends Globals, Required<Pick<SimulatorOptions, Settings | 'maxLimit' | 'prefix' | 'faults'>> {
  pages: number;
  website: string[];
  token: string;
  start?: string;
  nasty: boolean;
}

/** `indexhouse simulate`: runs a seeded upstream service until it is stopped. */
export function run(flags: Flags, io: Io): Promise<number> {
  return stoppable(io, async (signal) => {
    const simulator = await start(flags);
    io.stdout.write(flags.json ? `${JSON.stringify(summary(simulator, flags))}\n` : greeting(simulator, flags));
    if (!signal.aborted) await once(signal, 'abort');
    await simulator.close();
    return EXIT.done;
  });
}

async function start({ website, pages, nasty, token, start: given, ...options }: Flags): Promise<Simulator> {
  const websites = website.map((id) => ({ id, pages, nasty }));
  try {
    return await startSimulator({
      ...options,
      start: given ?? nightsAgo(options.nights),
      websites,
      keys: [{ token, label: 'simulator', websites: 'all' }],
      // There are as many distinct requests as pages; beyond this many, only totals are counted.
      countPerRequest: pages * website.length <= 200_000,
    });
  } catch (error) {
    const reason = error instanceof ZodError ? prettifyError(error) : reasonOf(error);
    const message = `the simulator could not start on port ${options.port}: ${reason}`;
    throw error instanceof ZodError || error instanceof TypeError ? new UsageError(message) : new Failure(message);
  }
}

/** The current hour, this many nights ago: whole hours are easy to read, and nothing is in the future. */
function nightsAgo(nights: number): string {
  return new Date(Math.floor(Date.now() / HOUR_MS) * HOUR_MS - nights * DAY_MS).toISOString();
}

function summary({ url, origin, world }: Simulator, { token }: Flags): Record<string, unknown> {
  return {
    base_url: url,
    control_url: `${origin}/control`,
    token,
    night: world.night,
    now: world.now.toISOString(),
    websites: world.websites,
  };
}

function greeting({ url, origin, world }: Simulator, { token, rateLimit, rateWindow }: Flags): string {
  const first = encodeURIComponent(world.websites[0]?.id ?? '');
  const websites = world.websites
    .map(({ id, domain }) => `  - id: ${JSON.stringify(id)}\n    name: ${domain}\n`)
    .join('');
  return `Simulated service at ${url}, night ${world.night} (${world.now.toISOString()}), seed ${world.seed}
Token: ${token}

Try:
  curl -H 'Authorization: Bearer ${token}' '${url}/v1/urls/${first}?skip=0&limit=2'
  curl -X POST '${origin}/control/advance?nights=1'     # a night later: pages change, dates and ages move on

In indexhouse.yaml:
api:
  base_url: ${url}
  token: ${JSON.stringify(token)}
  requests_per_minute: ${rateLimit === 'unlimited' ? rateLimit : (rateLimit * 60) / rateWindow}
websites:
${websites}
Stop with Ctrl-C.
`;
}
