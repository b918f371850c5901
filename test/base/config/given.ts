import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '../../../src/base/config/errors.js';
import type { Overrides } from '../../../src/base/config/load.js';
import { loadConfig } from '../../../src/base/config/load.js';

export const TOKEN = 'tok-7Kf9/secret+value==';
export const MINIMAL = 'api:\n  base_url: https://api.example.com\n  token: abc\n';

type Env = Record<string, string>;

export function tempFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'indexhouse-config-'));
}

/** Loads `indexhouse.yaml` with this text from a new folder. */
export async function load(text: string | Uint8Array, env: Env = {}, overrides: Overrides = {}) {
  const cwd = await tempFolder();
  await writeFile(join(cwd, 'indexhouse.yaml'), text);
  return loadConfig({ env, cwd, overrides });
}

/** The error that loading this text gives. */
export function failure(...given: Parameters<typeof load>): Promise<ConfigError> {
  return refusal(load(...given));
}

export async function refusal(promise: Promise<unknown>): Promise<ConfigError> {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (error instanceof ConfigError) return error;
  throw new Error(`expected a ConfigError, got ${error === null ? 'a configuration' : String(error)}`);
}

/** `MINIMAL` with one more key in a section. */
export function withKey(section: string, line: string): string {
  return section === 'api' ? `${MINIMAL}  ${line}\n` : `${MINIMAL}${section}:\n  ${line}\n`;
}
