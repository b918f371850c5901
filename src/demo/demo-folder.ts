import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '../exit.js';
import { exists, makeFolder } from '../storage/durable.js';

const FIRST_LINE = '# Written by `indexhouse demo`, which replaces this folder when it runs again.';

/**
 * Makes the demo's folder, over that of an earlier demo and over nothing else.
 *
 * @throws UsageError where the folder is somebody else's
 */
export async function prepareDemoFolder(folder: string): Promise<void> {
  const config = join(folder, 'indexhouse.yaml');
  if (await exists(folder)) {
    const ours = (await exists(config)) && (await readFile(config, 'utf8')).startsWith(FIRST_LINE);
    if (!ours) throw new UsageError(`${folder} is there already and is no earlier demo: choose another with --folder`);
    await rm(folder, { recursive: true });
  }
  await makeFolder(folder);
}

/** Writes the configuration that the demo ran with, for trying the other commands on its warehouse. */
export async function writeDemoConfig(
  folder: string,
  config: { baseUrl: string; token: string; website: string; name: string },
): Promise<void> {
  await writeFile(
    join(folder, 'indexhouse.yaml'),
    `${FIRST_LINE}
api:
  base_url: ${config.baseUrl}      # the simulated service; it ended with the demo
  token: ${config.token}
  requests_per_minute: unlimited
websites:
  - id: ${config.website}
    name: ${config.name}
reports:
  refresh_after: 30d
warehouse:
  path: ./warehouse
`,
  );
}
