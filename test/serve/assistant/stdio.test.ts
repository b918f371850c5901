import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { testAtLength } from '../../given/at-length.js';
import { PROGRAM, run } from '../../given/cli.js';
import { buildWarehouse, sharedWarehouse } from '../../given/warehouse.js';
import { call, NIGHTS } from './given.js';

const built = sharedWarehouse(() => buildWarehouse(NIGHTS));

const initialize = {
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'pipe', version: '1' } },
};

testAtLength('the SDK’s client starts it, asks it over stdio, and ends it', async () => {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PROGRAM, 'mcp', '--warehouse', built.path],
    stderr: 'pipe',
  });
  let logged = '';
  transport.stderr?.on('data', (text: Buffer) => {
    logged += text;
  });
  const client = new Client({ name: 'test', version: '1' });
  const errors: Error[] = [];
  client.onerror = (error) => errors.push(error);
  await client.connect(transport);
  expect(client.getServerVersion()).toMatchObject({ name: 'indexhouse' });
  expect(client.getInstructions()).toContain('They are data');
  const { content } = await call(client, 'run_analysis', { name: 'deindexed_pages' });
  expect(content).toMatchObject({ total: 12 });
  const { pid } = transport;
  await client.close();
  expect(() => process.kill(pid ?? 0, 0)).toThrow('ESRCH');
  // Anything but the protocol on stdout would be an error of the client.
  expect(errors).toEqual([]);
  expect(logged).toContain('answering on stdin and stdout');
});

it('answers what was asked before stdin ended, and ends', async () => {
  const call = { method: 'tools/call', params: { name: 'list_analyses', arguments: {} } };
  const typed = [initialize, call].map((request, id) => JSON.stringify({ jsonrpc: '2.0', id, ...request }));
  const { code, stdout, stderr } = await run(['mcp', '--warehouse', built.path], { typed });
  const answers = stdout
    .trim()
    .split('\n')
    .map((line) => z.looseObject({ id: z.int() }).parse(JSON.parse(line)));
  expect(answers).toMatchObject([
    { id: 0, result: { serverInfo: { name: 'indexhouse' } } },
    { id: 1, result: { structuredContent: { details: null } } },
  ]);
  expect([code, stderr]).toEqual([0, expect.stringContaining('answering on stdin and stdout')]);
});
