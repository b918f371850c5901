import { once } from 'node:events';
import { prettifyError, ZodError } from 'zod';
import { Failure, UsageError } from '../../../base/exit.js';
import { DAY_MS, HOUR_MS } from '../../../base/time.js';
import { type SearchConsole, startSearchConsole } from '../../demo/search-console/search-console.js';
import { apiSections, googleSections } from '../../demo/sections.js';
import type { Simulation } from '../../demo/simulator/simulation.js';
import { type Simulator, type SimulatorOptions, startSimulator } from '../../demo/simulator/simulator.js';
import type { Globals } from '../command.js';
import { EXIT, type Io, stoppable } from '../io.js';
import { reasonOf } from '../serving/http-server.js';

type Settings = 'port' | 'host' | 'seed' | 'nights' | 'rateLimit' | 'rateWindow' | 'limiter' | 'rateHeaders';

export interface Flags extends Globals, Required<Pick<SimulatorOptions, Settings | 'maxLimit' | 'prefix' | 'faults'>> {
  pages: number;
  website: string[];
  token: string;
  source: 'api' | 'google';
  inspectionsPerDay: number;
  latency: number;
  start?: string;
  nasty: boolean;
}

/** `indexhouse simulate`: runs a seeded upstream service until it is stopped. */
export function run(flags: Flags, io: Io): Promise<number> {
  return stoppable(io, async (signal) => {
    const { simulation, summary, greeting } = await start(flags);
    const { night, now, websites } = simulation.world;
    const control_url = `${simulation.origin}/control`;
    const printed = { ...summary, control_url, token: flags.token, night, now, websites };
    io.stdout.write(flags.json ? `${JSON.stringify(printed)}\n` : greeting);
    if (!signal.aborted) await once(signal, 'abort');
    await simulation.close();
    return EXIT.done;
  });
}

async function start(flags: Flags) {
  const { website, pages, nasty, token, start: given, ...options } = flags;
  const shared = {
    ...options,
    start: given ?? nightsAgo(options.nights),
    websites: website.map((id) => ({ id, pages, nasty })),
    // There are as many distinct requests as pages; beyond this many, only totals are counted.
    countPerRequest: pages * website.length <= 200_000,
  };
  try {
    if (flags.source === 'google')
      return await startedGoogle(await startSearchConsole({ ...shared, token, latencyMs: flags.latency }), flags);
    const simulator = await startSimulator({ ...shared, keys: [{ token, label: 'simulator', websites: 'all' }] });
    return { simulation: simulator, summary: { base_url: simulator.url }, greeting: apiGreeting(simulator, flags) };
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

function apiGreeting(simulator: Simulator, { token, rateLimit, rateWindow }: Flags): string {
  const { url, world } = simulator;
  const first = encodeURIComponent(world.websites[0]?.id ?? '');
  const perMinute = rateLimit === 'unlimited' ? rateLimit : (rateLimit * 60) / rateWindow;
  const curl = `curl -H 'Authorization: Bearer ${token}' '${url}/v1/urls/${first}?skip=0&limit=2'`;
  const config = apiSections(simulator, token, perMinute);
  return greeting(`service at ${url}`, simulator, `Token: ${token}`, curl, config);
}

async function startedGoogle(simulation: SearchConsole, { token, inspectionsPerDay }: Flags) {
  const { url } = simulation;
  const credentials = await simulation.credentials();
  const curl = `curl -H 'Authorization: Bearer ${token}' '${url}/webmasters/v3/sites'`;
  const access = `Credentials, until this ends: ${credentials}`;
  const config = googleSections(simulation, credentials, inspectionsPerDay);
  const text = greeting(`Search Console at ${url}`, simulation, access, curl, config);
  return { simulation, summary: { endpoint: url, credentials }, greeting: text };
}

function greeting(title: string, { origin, world }: Simulation, access: string, curl: string, config: string): string {
  return `Simulated ${title}, night ${world.night} (${world.now.toISOString()}), seed ${world.seed}
${access}

Try:
  ${curl}
  curl -X POST '${origin}/control/advance?nights=1'     # a night later: pages change, dates and ages move on

In indexhouse.yaml:
${config}
Stop with Ctrl-C.
`;
}
