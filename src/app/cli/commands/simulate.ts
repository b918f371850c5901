import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { prettifyError, ZodError } from 'zod';
import { Failure, messageOf, UsageError } from '../../../base/exit.js';
import { safe } from '../../../base/observe/terminal.js';
import { exists } from '../../../base/storage/durable.js';
import { DAY_MS, HOUR_MS } from '../../../base/time.js';
import { googleSections, type SearchConsole, startSearchConsole } from '../../demo/search-console/search-console.js';
import { apiSections, type Simulator, type SimulatorOptions, startSimulator } from '../../demo/simulator/simulator.js';
import type { World } from '../../demo/simulator/world.js';
import { EXIT, type Globals, type Io, stoppable } from '../io.js';
import { reasonOf } from '../serving/http-server.js';

type Settings = 'port' | 'host' | 'seed' | 'nights' | 'rateLimit' | 'faults';

export interface Flags extends Globals, Required<Pick<SimulatorOptions, Settings>> {
  pages: number;
  website: string[];
  token: string;
  source: 'api' | 'google';
  inspectionsPerDay: number;
  latency: number;
  start?: string;
  writeConfig?: string;
}

const FIRST_LINE = '# Written by `indexhouse simulate`, which replaces this file when it runs again.';
/** How many nights can pass before the dates of a written configuration reach today. */
const NIGHTS_TO_COME = 30;

/** `indexhouse simulate`: runs a seeded upstream service until it is stopped. */
export function run(flags: Flags, io: Io): Promise<number> {
  return stoppable(io, async (signal) => {
    const file = flags.writeConfig === undefined ? null : resolve(io.cwd, flags.writeConfig);
    if (file !== null) await checkReplaceable(file);
    const started = await start(flags, io);
    if (file !== null) await writeConfig(file, started);
    const { simulation, summary } = started;
    const { night, now, websites } = simulation.world;
    const control_url = `${simulation.origin}/control`;
    const printed = { ...summary, control_url, token: flags.token, night, now, websites };
    io.stdout.write(flags.json ? `${JSON.stringify(printed)}\n` : greeting(started, flags));
    if (!signal.aborted) await once(signal, 'abort');
    await simulation.close();
    return EXIT.done;
  });
}

async function start(flags: Flags, io: Io) {
  const { website, pages, token, start: given, writeConfig, ...options } = flags;
  const hasOwnDates = writeConfig !== undefined;
  let world: World | undefined;
  const shared = {
    ...options,
    start: given ?? nightsAgo(options.nights + (hasOwnDates ? NIGHTS_TO_COME : 0)),
    websites: website.map((id) => ({ id, pages })),
    countPerRequest: false,
    ...(hasOwnDates ? { clock: () => world?.clock ?? Date.now() } : {}),
  };
  try {
    const started =
      flags.source === 'google'
        ? await startedGoogle(await startSearchConsole({ ...shared, token, latencyMs: flags.latency }), flags, io)
        : startedApi(
            await startSimulator({ ...shared, keys: [{ token, label: 'simulator', websites: 'all' }] }),
            flags,
          );
    world = started.simulation.world;
    return started;
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

/** @throws UsageError if this file is somebody's own */
async function checkReplaceable(file: string): Promise<void> {
  if (!(await exists(file)) || (await readFile(file, 'utf8')).startsWith(FIRST_LINE)) return;
  throw new UsageError(`${file} is there already, and no simulator wrote it: choose another with --write-config`);
}

/** Writes a whole configuration. Its nights have the dates of the simulator, and none of them counts as old. */
async function writeConfig(file: string, { config, simulation }: Awaited<ReturnType<typeof start>>): Promise<void> {
  const text = `${FIRST_LINE}
${config}warehouse:
  path: ./warehouse
sync:
  clock: service
status:
  max_age: 400d
`;
  try {
    await writeFile(file, text);
  } catch (error) {
    await simulation.close();
    throw new UsageError(`${file} cannot be written (${messageOf(error)}): choose another with --write-config`);
  }
}

function startedApi(simulation: Simulator, { token, rateLimit }: Flags) {
  const { url, world } = simulation;
  const config = apiSections(simulation, token, rateLimit);
  const path = `/v1/urls/${encodeURIComponent(world.websites[0]?.id ?? '')}?skip=0&limit=2`;
  return { simulation, summary: { base_url: url }, title: 'service', access: `Token: ${token}`, path, config };
}

async function startedGoogle(simulation: SearchConsole, { inspectionsPerDay }: Flags, { program }: Io) {
  const credentials = await simulation.credentials();
  const client = await simulation.client();
  const access = `Credentials, until this ends: ${credentials}
OAuth client of the same:     ${client}

Sign in there as at Google:
  export INDEXHOUSE_GOOGLE_ENDPOINT=${simulation.url}
  ${program} login --client ${client}
  ${program} init --source google`;
  const config = googleSections(simulation, credentials, inspectionsPerDay);
  const summary = { endpoint: simulation.url, credentials, client };
  return { simulation, summary, title: 'Search Console', access, path: '/webmasters/v3/sites', config };
}

function greeting(
  { simulation, title, access, path, config }: Awaited<ReturnType<typeof start>>,
  { token, writeConfig }: Flags,
): string {
  const { url, origin, world } = simulation;
  return `Simulated ${title} at ${url}, night ${world.night} (${world.now.toISOString()}), seed ${world.seed}
${access}

Try:
  curl -H 'Authorization: Bearer ${token}' '${url}${path}'
  curl -X POST '${origin}/control/advance?nights=1'     # a night later: pages change, dates and ages move on

${writeConfig === undefined ? `In indexhouse.yaml (--write-config writes it):\n${config}` : `Wrote ${safe(writeConfig)}\n`}
Stop with Ctrl-C.
`;
}
