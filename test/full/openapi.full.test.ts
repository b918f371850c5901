import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { startSimulator } from '../given/client-clock.js';
import { folderOnDisk } from '../given/folder.js';
import { NASTY_PATHS } from '../given/nasty-paths.js';
import { installed, mayInstallTools } from '../given/packages.js';
import { serveSimulated } from '../given/served.js';

/** The OpenAPI documents of `serve` and `simulate`, as other people's tools read them. */
const PACKAGES = ['@redocly/cli@2.77.0'];
const SCHEMATHESIS = 'schemathesis==4.32.5';
const TOKEN = 'reader';

const folder = folderOnDisk('full');
const MAY_INSTALL = mayInstallTools();
const HAS_TOOLS = MAY_INSTALL && installed(folder, PACKAGES);
const urls: Record<string, string> = {};
const program = MAY_INSTALL ? pythonWith(SCHEMATHESIS) : null;

beforeAll(async () => {
  const keys = [{ token: TOKEN, label: TOKEN, websites: ['shop', 'blog'] }];
  const websites = ['shop', 'blog'].map((id) => ({ id, pages: 100, paths: NASTY_PATHS }));
  const simulator = await startSimulator({ websites, nights: 10, keys });
  const options = { rateLimit: 1_000_000 };
  const served = await serveSimulated(simulator, { token: TOKEN, keys: { [TOKEN]: ['shop', 'blog'] }, options });
  Object.assign(urls, { simulate: simulator.url, serve: served.baseUrl });
});

describe.each(['serve', 'simulate'])('the OpenAPI document of %s', (name) => {
  test.runIf(HAS_TOOLS)('passes a strict linter', async () => {
    const file = join(folder, `${name}.json`);
    writeFileSync(file, await (await fetch(`${urls[name]}/openapi.json`)).text());
    const options = { cwd: folder, encoding: 'utf8', env: { ...process.env, REDOCLY_TELEMETRY: 'off' } } as const;
    const args = ['lint', '--extends', 'recommended-strict', file];
    const { status, stdout, stderr } = spawnSync(join(folder, 'node_modules', '.bin', 'redocly'), args, options);
    expect(status, stdout + stderr).toBe(0);
  });

  test.runIf(program)('and what is answered agree, as schemathesis sees it', async () => {
    const { status, output } = await checked(program ?? '', urls[name] ?? '');
    expect(status, output).toBe(0);
  });
});

/** The program of a Python package in an environment of its own; null where there is none to be had. */
function pythonWith(wanted: string): string | null {
  const environment = join(folder, 'python');
  const steps: [string, string[]][] = [
    ['python3', ['-m', 'venv', environment]],
    [join(environment, 'bin', 'pip'), ['install', '-q', wanted]],
  ];
  const isThere = steps.every(([program, args]) => spawnSync(program, args, { stdio: 'ignore' }).status === 0);
  return isThere ? join(environment, 'bin', 'schemathesis') : null;
}

/** Beside this process, which is the one that answers. */
async function checked(program: string, url: string): Promise<{ status: number | null; output: string }> {
  const args = ['run', `${url}/openapi.json`, '--checks', 'all', '--seed', '1', '--max-examples', '50'];
  const child = spawn(program, [...args, '-H', `Authorization: Bearer ${TOKEN}`, '--url', url], { cwd: folder });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => (output += String(piece)));
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { status, output };
}
