import { expect, it } from 'vitest';
import { z } from 'zod';
import { run } from '../../given/cli.js';
import { buildWarehouse, sharedWarehouse } from '../../given/warehouse.js';
import { NIGHTS } from './given.js';

const built = sharedWarehouse(() => buildWarehouse(NIGHTS));

const initialize = {
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'pipe', version: '1' } },
};

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
