import { makeTemporary, removeTemporary } from '../../../base/storage/temporary.js';
import { plainServer } from '../../../serve/api/http.js';
import { type Simulation, type SimulationOptions, startSimulation } from '../simulator/simulation.js';
import type { World } from '../simulator/world.js';
import { addCalls, operationOf } from './calls.js';
import { type Property, type PropertyOptions, propertyOf, type Quota } from './properties.js';
import { type CredentialsKind, SignIn } from './sign-in.js';

export interface SearchConsoleOptions extends SimulationOptions, Quota {
  /** Beside the domain property of each website, which the credentials own; one of the same `siteUrl` replaces it. */
  properties?: readonly PropertyOptions[];
  /** How long an inspection takes, about (default 0; the real one: 6,000). */
  latencyMs?: number;
  /** An access token that never ends, for trying out. */
  token?: string;
  /** Checks signed assertions (default: the machine's clock, by which google-auth-library signs, whatever night the world has). */
  jwtClock?: () => number;
}

export interface SearchConsole extends Simulation {
  /** The endpoint. */
  readonly url: string;
  /** How often each address was inspected at the cost of quota. */
  readonly inspected: Map<string, number>;
  /** Replaces all properties. */
  setProperties(properties: readonly PropertyOptions[]): void;
  /** Writes credentials that sign in here into a file, and returns its path. It is removed on `close`. */
  credentials(kind?: CredentialsKind): Promise<string>;
  /** The same of an OAuth client for `indexhouse login`. */
  client(): Promise<string>;
}

/**
 * Starts a Search Console over a seeded world: signing in, its calls with their quotas, and, for requests with the
 * `host` of a simulated website, that one's robots.txt and sitemaps.
 */
export async function startSearchConsole(options: SearchConsoleOptions = {}): Promise<SearchConsole> {
  const { clock = Date.now, latencyMs = 0, properties: given = [] } = options;
  const signIn = new SignIn(clock, options.token, options.jwtClock);
  const inspected = new Map<string, number>();
  const properties: Property[] = [];
  const setProperties = (world: World, all: readonly PropertyOptions[]): void => {
    properties.splice(0, properties.length, ...all.map((one) => propertyOf(world, clock, { ...options, ...one })));
  };
  const simulation = await startSimulation(options, {
    operationOf,
    build: (world, setup) => {
      const own = world.websites.map(({ domain }) => ({ siteUrl: `sc-domain:${domain}` }));
      setProperties(world, [...new Map([...own, ...given].map((one) => [one.siteUrl, one])).values()]);
      const app = plainServer({ setup });
      void app.register((scope) => addCalls(scope, { world, properties, signIn, latencyMs, inspected }));
      return app;
    },
  });
  const folder = makeTemporary('search-console');
  return {
    ...simulation,
    url: simulation.origin,
    inspected,
    setProperties: (all) => setProperties(simulation.world, all),
    credentials: (kind = 'service_account') => signIn.write(kind, `${simulation.origin}/token`, folder),
    client: () => signIn.writeClient(simulation.origin, folder),
    close: async () => {
      removeTemporary(folder);
      await simulation.close();
    },
  };
}

/** What an `indexhouse.yaml` says of a simulated Search Console. */
export function googleSections({ url, world }: SearchConsole, credentials: string, inspectionsPerDay: number): string {
  const entryOf = (domain: string) =>
    `  - id: "sc-domain:${domain}"\n    source: google\n    inspections_per_day: ${inspectionsPerDay}\n`;
  return `google:
  credentials: ${credentials}
  endpoint: ${url}
websites:
${world.websites.map(({ domain }) => entryOf(domain)).join('')}`;
}
