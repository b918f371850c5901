import type { ConfigDocument, Environment } from './document.js';

/** Variables set secrets, paths and addresses: what differs from machine to machine. */
const VARIABLES: Readonly<Record<string, Place>> = {
  INDEXHOUSE_API_BASE_URL: ['api', 'base_url'],
  INDEXHOUSE_API_TOKEN: ['api', 'token'],
  INDEXHOUSE_GOOGLE_CREDENTIALS: ['google', 'credentials'],
  INDEXHOUSE_GOOGLE_ENDPOINT: ['google', 'endpoint'],
  INDEXHOUSE_WAREHOUSE_PATH: ['warehouse', 'path'],
  INDEXHOUSE_BUCKET: ['bucket'],
  INDEXHOUSE_SERVICE_HOST: ['service', 'host'],
  INDEXHOUSE_SERVICE_PORT: ['service', 'port'],
};

type Place = readonly [section: string, key?: string];
type Scalar = string | number;

/** Values of flags, by section and key; undefined ones override nothing. */
export type Overrides = Readonly<Record<string, Readonly<Record<string, Scalar | undefined>>>>;

/** The origins of values that are not from the file: path → `command line` or `environment NAME`. */
export type Origins = Map<string, string>;

/** Overrides the file's values in place, by the environment and then by the flags. Empty variables do not count. */
export function override({ value }: ConfigDocument, env: Environment, flags: Overrides): Origins {
  const origins: Origins = new Map();
  const set = ([section, key]: Place, given: Scalar | undefined, origin: string) => {
    const own = value[section] ?? {};
    if (given === undefined || given === '' || (key !== undefined && (typeof own !== 'object' || Array.isArray(own))))
      return;
    origins.set(key === undefined ? section : `${section}.${key}`, origin);
    value[section] = key === undefined ? given : { ...own, [key]: key === 'port' ? numberIn(given) : given };
  };
  for (const [name, place] of Object.entries(VARIABLES)) set(place, env[name], `environment ${name}`);
  for (const [section, keys] of Object.entries(flags)) {
    for (const [key, given] of Object.entries(keys)) set([section, key], given, 'command line');
  }
  return origins;
}

function numberIn(given: Scalar): Scalar {
  return /^\d+$/.test(`${given}`) ? Number(given) : given;
}
