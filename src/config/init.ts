import { writeFile } from 'node:fs/promises';
import { ConfigError } from './errors.js';
import { STARTER } from './starter.js';

const EXAMPLE_URL = 'https://api.example.com';

export interface StarterOptions {
  /** The service's address to write instead of the example's. */
  baseUrl?: string | undefined;
}

/**
 * Writes a commented configuration that holds the defaults, and the token as `${INDEXHOUSE_TOKEN}`.
 *
 * @param file absolute path.
 * @throws ConfigError if something is there already (it is left as it is) or the file cannot be written.
 */
export async function writeStarterConfig(file: string, { baseUrl = EXAMPLE_URL }: StarterOptions = {}): Promise<void> {
  try {
    await writeFile(
      file,
      STARTER.replace(EXAMPLE_URL, () => baseUrl),
      { flag: 'wx' },
    );
  } catch (error) {
    const [message, remedy] = unwritable(error);
    throw new ConfigError([{ file, line: null, column: null, path: '', message, remedy }]);
  }
}

function unwritable(error: unknown): [message: string, remedy: string] {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'EEXIST')
    return ['this file already exists and was not changed', 'Edit it, or choose another with --config.'];
  if (code === 'ENOENT') return ['there is no such folder', 'Create the folder first.'];
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return ['this folder is not writable', 'Choose another with --config, or change its permissions.'];
  }
  return [`the file cannot be written (${code || 'unknown error'})`, 'Check the path and the disk.'];
}
