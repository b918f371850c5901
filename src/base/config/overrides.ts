import type { ConfigDocument, Environment } from './document.js';
import { SECTION_NAMES, SECTIONS, type Section } from './schema.js';

const NUMBER = /^-?\d+(\.\d+)?$/;

type Scalar = string | number | boolean;

/** Values of flags, by section and key; undefined ones override nothing. */
export type Overrides = { [S in Section]?: Readonly<Record<string, Scalar | undefined>> };

/** The origins of values that are not from the file: path → `command line` or `environment NAME`. */
export type Origins = Map<string, string>;

/** Overrides the file's values in place, by the environment and then by the flags. Empty variables do not count. */
export function override(document: ConfigDocument, env: Environment, flags: Overrides): Origins {
  const origins: Origins = new Map();
  const { value } = document;
  for (const section of SECTION_NAMES) {
    // A section whose keys are all commented out is null.
    const own = value[section] ?? {};
    if (typeof own !== 'object' || Array.isArray(own)) continue;
    const keys: Record<string, unknown> = { ...own };
    for (const key of new Set([...Object.keys(SECTIONS[section].shape), ...Object.keys(own)])) {
      const chosen = pick(section, key, env, flags);
      if (!chosen) continue;
      origins.set(`${section}.${key}`, chosen.origin);
      keys[key] = chosen.value;
    }
    if (section in value || Object.keys(keys).length > 0) value[section] = keys;
  }
  for (const path of document.fromEnvironment) readText(document, path, origins);
  return origins;
}

function pick(section: Section, key: string, env: Environment, flags: Overrides) {
  const flag = flags[section]?.[key];
  if (flag !== undefined) return { origin: 'command line', value: fromText(section, key, flag) };
  const name = variableName(section, key);
  const variable = env[name];
  return variable ? { origin: `environment ${name}`, value: fromText(section, key, variable) } : null;
}

/** `api`, `base_url` → `INDEXHOUSE_API_BASE_URL`. */
function variableName(section: Section, key: string): string {
  return `INDEXHOUSE_${section}_${key}`.replaceAll('-', '_').toUpperCase();
}

/** A value from `${NAME}` is text; if its key takes a number, it is read as one. */
function readText({ value }: ConfigDocument, path: string, origins: Origins): void {
  const [name, key = ''] = path.split('.');
  const section = SECTION_NAMES.find((one) => one === name);
  const keys = section && value[section];
  if (origins.has(path) || !section || typeof keys !== 'object' || keys === null) return;
  const filled = (keys as Record<string, unknown>)[key];
  if (typeof filled === 'string') Object.assign(keys, { [key]: fromText(section, key, filled) });
}

/** Reads the text of a flag or variable as a number, `true` or `false` if the key takes no text. */
function fromText(section: Section, key: string, given: Scalar): Scalar {
  const shape: Readonly<Record<string, { safeParse(value: unknown): { success: boolean } }>> = SECTIONS[section].shape;
  const schema = Object.hasOwn(shape, key) ? shape[key] : undefined;
  if (typeof given !== 'string') return given;
  if (schema?.safeParse(given).success) return given;
  if (given === 'true' || given === 'false') return given === 'true';
  const number = NUMBER.test(given) ? Number(given) : given;
  return schema?.safeParse(number).success ? number : given;
}
