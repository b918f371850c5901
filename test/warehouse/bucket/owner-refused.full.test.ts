import { rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { expect, test } from 'vitest';
import { givenServers, Machine, refused } from './machine.js';

const given = givenServers();

test('another folder is refused before its first request, with the owner and the command that takes over', async () => {
  const [a, b] = [new Machine(), new Machine()];
  await a.does('night');
  const asked = given.requests.length;
  const { text } = await b.night();
  expect(text).toContain(`${hostname()}:${a.warehouse} since`);
  expect((await b.run('restore --take-over')).text).toContain('holds another warehouse');
  // A plain restore does not make it the owner.
  rmSync(b.warehouse, { recursive: true });
  await b.does('restore');
  const commands = ['sync', 'maintain', 'note 2025-03-01 relaunch', 'remove --website shop --yes', 'verify --repair'];
  for (const command of commands) expect([command, await b.run(command)]).toEqual([command, refused]);
  expect(given.requests.length).toBe(asked);
  expect((await b.run('doctor')).text).toContain('belongs to');
});

test('a server that ignores conditions is refused by doctor and at the start', async () => {
  const a = new Machine();
  given.bucket.isConditional = false;
  expect(await a.night()).toMatchObject({ code: 1, text: expect.stringContaining('conditional writes') });
  expect(given.requests.length).toBe(0);
  expect((await a.run('doctor')).text).toContain('conditional writes');
  given.bucket.isConditional = true;
  given.bucket.fault = (what) => (what.startsWith('PUT') ? '501 NotImplemented' : null);
  expect((await a.run('doctor')).text).toContain('this server lacks conditional writes');
});
