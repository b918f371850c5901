import { ConfigError } from '../config/errors.js';
import type { Config } from '../config/schema.js';
import { timetable } from '../schedule/timetable.js';
import { type CheckResult, resultsOf } from './check-result.js';

const config = resultsOf('config');

/**
 * Whether the configuration can be read and every job in it exists.
 *
 * @param load throws ConfigError for what is wrong
 * @returns the configuration, or null where nothing else can be checked
 */
export async function checkConfig(
  load: () => Promise<Config>,
): Promise<{ config: Config | null; found: CheckResult[] }> {
  try {
    const loaded = await load();
    timetable(loaded);
    return { config: loaded, found: [config.ok(`${loaded.file} is valid`)] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { config: null, found: problemsIn(error) };
  }
}

function problemsIn({ problems }: ConfigError): CheckResult[] {
  return problems.map(({ file, line, column, path, message, remedy }) => {
    const place = line === null ? file : `${file}:${line}:${column}`;
    return config.error(`${place}: ${path === '' ? '' : `${path} `}${message}`, remedy);
  });
}
