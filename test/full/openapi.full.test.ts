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
const PACKAGES = ['openapi-typescript@7.13.0', 'typescript@5.9.3', '@redocly/cli@2.77.0'];
const SCHEMATHESIS = 'schemathesis==4.32.5';
const TOKEN = 'reader';

const CLIENT = `
import type { paths, components } from './api.js';
type Answer<P extends keyof paths> = paths[P] extends { get: { responses: { 200: { content: { 'application/json': infer T } } } } } ? T : never;
declare const window: Answer<'/v1/urls/{website_id}'>;
declare const report: Answer<'/v1/url-report'>;
declare const key: Answer<'/v1'>;
declare const error: components['schemas']['Error'];
const count: number = window.pagination.count + window.pagination.skip + window.pagination.limit;
const next: string | null = window.pagination.next_page;
const first: string | undefined = window.urls.map((entry) => entry.url.toUpperCase())[0];
const state: string | null = report.index_coverage_state;
const sitemaps: string[] | null = report.sitemaps;
const websites: string[] = key.websites_access.map(({ _id, url }) => _id + url);
const status: number = error.status;
// @ts-expect-error there is no such field
report.unknown_field;
export { count, next, first, state, sitemaps, websites, status };
`;

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
    const file = await saved(name);
    const { status, output } = ran('redocly', ['lint', '--extends', 'recommended-strict', file]);
    expect(status, output).toBe(0);
  });

  test.runIf(HAS_TOOLS)('gives a client whose specified fields need no question marks', async () => {
    const file = await saved(name);
    expect(ran('openapi-typescript', [file, '-o', join(folder, 'api.d.ts')]).status).toBe(0);
    writeFileSync(join(folder, 'client.ts'), CLIENT);
    const options = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--module', 'nodenext', 'client.ts'];
    const { status, output } = ran('tsc', options);
    expect(status, output).toBe(0);
  });

  test.runIf(program)('and what is answered agree, as schemathesis sees it', async () => {
    const { status, output } = await checked(program ?? '', urls[name] ?? '');
    expect(status, output).toBe(0);
  });
});

async function saved(name: string): Promise<string> {
  const file = join(folder, `${name}.json`);
  writeFileSync(file, await (await fetch(`${urls[name]}/openapi.json`)).text());
  return file;
}

function ran(tool: string, args: string[]): { status: number | null; output: string } {
  const options = { cwd: folder, encoding: 'utf8', env: { ...process.env, REDOCLY_TELEMETRY: 'off' } } as const;
  const { status, stdout, stderr } = spawnSync(join(folder, 'node_modules', '.bin', tool), args, options);
  return { status, output: stdout + stderr };
}

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
