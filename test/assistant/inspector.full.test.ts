import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { addKey } from '../../src/keys/manage-keys.js';
import { PROGRAM, type Running, start } from '../given/cli.js';
import { temporaryFolder } from '../given/folder.js';
import { installed, mayInstallTools } from '../given/packages.js';
import { type BuiltWarehouse, buildWarehouse } from '../given/warehouse.js';
import { NIGHTS } from './given.js';

/** The protocol's official inspector; its scripts at install are not run. */
const INSPECTOR = '@modelcontextprotocol/inspector@2.12.0';
const folder = temporaryFolder(afterAll);
const isThere = mayInstallTools() && installed(folder, [INSPECTOR]);

const TOOLS: [string, Record<string, unknown>][] = [
  ['list_analyses', { name: 'events' }],
  ['run_analysis', { name: 'deindexed_pages', parameters: { since: '6 days ago' } }],
  ['compare', { website: 'shop' }],
  ['events', {}],
  ['page', { url: 'https://shop.example/blog/000' }],
  ['query_sql', { sql: 'select count(*) from pages' }],
  ['status', {}],
  ['report', { website: 'shop' }],
];

let built: BuiltWarehouse;
let serving: Running;
/** How the inspector reaches a server by each transport. */
const targets: Record<string, string[]> = {};
beforeAll(async () => {
  built = await buildWarehouse(NIGHTS);
  targets['stdio'] = [process.execPath, PROGRAM, 'mcp', '--warehouse', built.path];
  const { token } = await addKey(built.path, { label: 'inspector', websites: 'all' });
  serving = start(['serve', '--json', '--port', '0', '--warehouse', built.path]);
  await serving.spoken;
  const url = `${z.object({ base_url: z.string() }).parse(JSON.parse(serving.printed())).base_url}/mcp`;
  targets['http'] = ['--transport', 'http', '--server-url', url, '--header', `Authorization: Bearer ${token}`];
  return async () => {
    serving.kill('SIGTERM');
    await serving.ended;
    built.remove();
  };
});

function inspected(transport: string, ...flags: string[]): { status: number | null; answer: unknown; stderr: string } {
  const target = targets[transport] ?? [];
  const words = transport === 'stdio' ? [...flags, '--', ...target] : [...target, ...flags];
  const program = join(folder, 'node_modules', '.bin', 'mcp-inspector');
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, MCP_STORAGE_DIR: folder };
  const { status, stdout, stderr } = spawnSync(program, ['--cli', ...words], { encoding: 'utf8', env, cwd: folder });
  return { status, answer: stdout.startsWith('{') ? JSON.parse(stdout) : stdout, stderr };
}

describe.skipIf(!isThere).each(['stdio', 'http'])('the inspector’s command line over %s', (transport) => {
  it('lists the tools, whose schemas any client can read', () => {
    const { status, answer, stderr } = inspected(transport, '--method', 'tools/list', '--strict');
    expect([status, stderr]).toEqual([0, expect.anything()]);
    const { tools } = z.object({ tools: z.array(z.object({ name: z.string() })) }).parse(answer);
    expect(tools.map(({ name }) => name).sort()).toEqual(TOOLS.map(([name]) => name).sort());
  });

  it.each(TOOLS)('calls %s', (name, given) => {
    const flags = ['--method', 'tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(given)];
    const { status, answer, stderr } = inspected(transport, ...flags);
    expect([status, stderr]).toEqual([0, expect.anything()]);
    expect(answer).toMatchObject({ structuredContent: { basis: { websites: expect.anything() } } });
    expect(answer).not.toHaveProperty('isError', true);
  });

  it('reads resources and prompts', () => {
    expect(inspected(transport, '--method', 'resources/list').answer).toMatchObject({ resources: [{}, {}, {}] });
    const read = inspected(transport, '--method', 'resources/read', '--uri', 'indexhouse://glossary');
    expect(read.answer).toMatchObject({ contents: [{ mimeType: 'text/markdown' }] });
    expect(inspected(transport, '--method', 'prompts/list').answer).toMatchObject({ prompts: [{}, {}, {}] });
    const flags = ['--method', 'prompts/get', '--prompt-name', 'did_change_help', '--prompt-args', 'date=2025-03-02'];
    expect(inspected(transport, ...flags).answer).toMatchObject({ messages: [{ role: 'user' }] });
  });
});
