import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packageFolder } from './storage/sql.js';

/** The version of this package. Reads it without a schema library, because `--help` waits for it. */
export async function packageVersion(): Promise<string> {
  const parsed: unknown = JSON.parse(await readFile(join(packageFolder(), 'package.json'), 'utf8'));
  const version = typeof parsed === 'object' && parsed !== null && 'version' in parsed ? parsed.version : null;
  if (typeof version !== 'string') throw new Error('package.json has no version: reinstall indexhouse');
  return version;
}
