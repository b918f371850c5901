import { randomUUID } from 'node:crypto';
import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { watchCrashPoints } from '../../../src/base/storage/crash-point.js';
import { summedJson } from '../../../src/base/storage/json-file.js';
import { withBucket } from '../../../src/warehouse/bucket/client.js';
import { own } from '../../../src/warehouse/bucket/owner.js';
import { describeAtLength, once, testAtLength } from '../../given/at-length.js';
import { type GivenBucket, startBucket } from '../../given/bucket.js';
import { page } from '../../given/bucket-copy.js';
import { run, start } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { temporaryFolder } from '../../given/folder.js';
import { readTable } from '../../given/parquet.js';
import { type ScriptedService, startService } from '../../given/service.js';

/** How often a machine loses its disk. */
const LOST = 2;

let server: GivenBucket;
let service: ScriptedService;
let nights = 0;
beforeEach(async () => {
  [server, service] = await Promise.all([startBucket(), startService()]);
  service.list('shop', [page('p'), page('q')]);
});
afterEach(() => Promise.all([server.close(), service.close()]));

/** Machines share nothing but the bucket. */
class Machine {
  readonly folder = temporaryFolder();
  readonly warehouse = join(this.folder, 'warehouse');
  readonly config = writeConfig(this.folder, {
    baseUrl: service.url,
    websites: ['shop'],
    sections: { bucket: server.url, reports: { max_per_run: 0 } },
  });

  async run(command: string): Promise<{ code: number; text: string }> {
    const { code, stdout, stderr } = await run([...command.split(' '), '--config', this.config]);
    return { code: code ?? -1, text: stdout + stderr };
  }

  /** A night in which a page changes, so that commits that follow from the wrong state show. */
  async night(): Promise<{ code: number; text: string }> {
    nights++;
    service.list('shop', [page('p', nights % 2 === 0 ? 'Indexed' : 'Not indexed'), page(`new-${nights}`)]);
    return this.run('sync');
  }

  /** Each of these ends well; `night` is one. */
  async does(...commands: string[]): Promise<void> {
    for (const one of commands) {
      const { code, text } = await (one === 'night' ? this.night() : this.run(one));
      expect([one, code], text).toEqual([one, 0]);
    }
  }

  async ids(): Promise<unknown[]> {
    return (await readTable(this.warehouse, 'snapshots')).map(({ snapshot_id }) => snapshot_id).sort();
  }

  async expectWhole(snapshots: number): Promise<void> {
    expect(await this.run('verify')).toMatchObject({ code: 0 });
    expect(markers().sort()).toEqual(await this.ids());
    expect(markers()).toHaveLength(snapshots);
  }
}

const keys = (prefix: string) => [...server.objects.keys()].filter((key) => key.startsWith(prefix));
const markers = () => keys('parquet/snapshots/').map((key) => key.replace(/^.*\/|\.parquet$/g, ''));
const refused = { code: 1, text: expect.stringMatching(/belongs to .* since .*`indexhouse restore --take-over`/) };
const lags = (text: string) => ({ code: 3, text: expect.stringContaining(text) });
const owner = () => server.objects.get('owner.json') ?? expect.fail();
/** Names another folder at once, as a take-over elsewhere does. */
const takeOverNow = () =>
  server.objects.set('owner.json', {
    body: Buffer.from(summedJson({ folder: randomUUID(), machine: 'other:/warehouse', since: '2025-03-01T00:00:00Z' })),
    modified: new Date(),
  });

once('another folder is refused before its first request, with the owner and the command that takes over', async () => {
  const [a, b] = [new Machine(), new Machine()];
  await a.does('night');
  const asked = service.requests.length;
  const { text } = await b.night();
  expect(text).toContain(`${hostname()}:${a.warehouse} since`);
  expect((await b.run('restore --take-over')).text).toContain('holds another warehouse');
  // Neither a plain restore nor a backup makes it the owner.
  for (const copy of [() => b.does('restore'), () => a.does(`backup ${b.warehouse}`)]) {
    rmSync(b.warehouse, { recursive: true });
    await copy();
    for (const command of ['sync', 'maintain', 'note 2025-03-01 relaunch', 'remove --website shop --yes'])
      expect([command, await b.run(command)]).toEqual([command, refused]);
  }
  expect(await b.run('schedule --once maintain')).toEqual(refused);
  expect(await b.run('verify --repair')).toEqual(refused);
  expect(service.requests.length).toBe(asked);
  expect((await b.run('doctor')).text).toContain('belongs to');
  await a.does('night');
  await a.expectWhole(2);
});

testAtLength('of two folders that claim a bucket at once, one owns it', async () => {
  const [a, b] = [new Machine(), new Machine()];
  const codes = (await Promise.all([a.night(), b.night()])).map(({ code }) => code);
  expect(codes.sort()).toEqual([0, 1]);
  const others = [new Machine(), new Machine()];
  for (const one of others) await one.does('restore');
  server.objects.delete('owner.json');
  const claims = others.map(({ warehouse }) => withBucket(server.url, (bucket) => own(bucket, warehouse)));
  const ended = await Promise.allSettled(claims);
  expect(ended.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
});

describeAtLength('a folder that was taken over', () => {
  test('is refused; status says so, and taking it back sets aside what only it has', async () => {
    const a = new Machine();
    await a.does('night');
    server.fault = () => '403 AccessDenied';
    expect(await a.night()).toEqual(lags('AccessDenied'));
    server.fault = null;
    const b = new Machine();
    await b.does('restore --take-over', 'night');
    expect(await a.night()).toEqual(refused);
    const status = await a.run('status');
    expect(status.code).not.toBe(0);
    expect(status.text).toMatch(/the bucket cannot be compared: s3:\/\/lake belongs to/);
    await b.expectWhole(2);
    expect(await a.run('restore --take-over')).toMatchObject({ code: 0, text: expect.stringContaining('set-aside') });
    const [aside = ''] = readdirSync(join(a.warehouse, 'set-aside'));
    expect(existsSync(join(a.warehouse, 'set-aside', aside, 'parquet', 'snapshots'))).toBe(true);
    expect(await b.night()).toEqual(refused);
    await a.does('night');
    await a.expectWhole(3);
  });

  test.each([
    ['wrote the manifest', 1],
    ['sent the data', 1],
    ['sent the state', 1],
    ['sent the marker', 2],
  ])('while it slept after it %s sends no further marker', async (step, sent) => {
    const [a, b] = [new Machine(), new Machine()];
    await a.does('night');
    const waiting = watchCrashPoints((at) => {
      if (at === step) takeOverNow();
    });
    onTestFinished(waiting);
    const { code } = await a.night();
    waiting();
    expect(code).toBe(step === 'sent the marker' ? 0 : 3);
    expect(markers()).toHaveLength(sent);
    expect(await a.night()).toEqual(refused);
    await b.does('restore --take-over', 'night');
    await b.expectWhole(sent + 1);
  });

  test('whose last marker arrives late: the next push of the new owner stops, until it has that commit', async () => {
    const [a, b] = [new Machine(), new Machine()];
    await a.does('night');
    const before = owner();
    await b.does('restore --take-over');
    const after = owner();
    server.objects.set('owner.json', before);
    server.fault = (what) => {
      if (/^PUT .*snapshots/.test(what)) server.objects.set('owner.json', after);
      return null;
    };
    await a.does('night');
    server.fault = null;
    expect(await b.night()).toEqual(lags('has 1 commit that'));
    expect((await b.run('status')).text).toContain('has 1 commit that');
    expect(await b.run('restore --take-over')).toMatchObject({ code: 0, text: expect.stringContaining('set-aside') });
    await b.does('night');
    await b.expectWhole(3);
  });
});

testAtLength('of a folder and its copy made by cp, the one that pushes second is stopped', async () => {
  const [a, b] = [new Machine(), new Machine()];
  await a.does('night');
  cpSync(a.warehouse, b.warehouse, { recursive: true });
  await a.does('night');
  expect(await b.night()).toEqual(lags('has 1 commit that'));
  await b.does('restore --take-over', 'night');
  await b.expectWhole(3);
  expect(await a.night()).toEqual(refused);
});

testAtLength('a machine that loses its disk goes on unattended, from its first night on', async () => {
  const a = new Machine();
  const first = start(['sync', '--config', a.config], { cwd: a.folder });
  await vi.waitFor(() => expect(keys('owner.json')).toHaveLength(1), { timeout: 20_000 });
  first.kill('SIGKILL');
  await first.ended;
  for (let lost = 0; lost < LOST; lost++) {
    rmSync(a.warehouse, { recursive: true, force: true });
    const start = ['restore --take-over --if-missing', 'night'];
    await a.does(...start, ...start);
  }
  await a.expectWhole(2 * LOST);
});

testAtLength('answers that are lost after a PUT change nothing', async () => {
  const [a, b] = [new Machine(), new Machine()];
  const seen = new Set<string>();
  server.fault = (what) => (/^PUT .*(owner|snapshots)/.test(what) && seen.size < seen.add(what).size ? 'kept' : null);
  await a.does('night', 'night');
  seen.clear();
  await b.does('restore --take-over', 'night');
  server.fault = null;
  await b.expectWhole(3);
});

testAtLength('without its bucket a folder syncs on, and the copy lags until it can be asked again', async () => {
  const [a, b] = [new Machine(), new Machine()];
  await a.does('night');
  await b.does('restore --take-over');
  server.fault = () => 'cut';
  expect(await b.night()).toEqual(lags('the bucket cannot be asked who owns it'));
  expect(await b.run('status')).toEqual(lags('the bucket cannot be compared'));
  expect(await a.night()).toEqual(lags('the bucket could not catch up'));
  server.fault = null;
  expect(await a.night()).toEqual(refused);
  await b.does('night');
  await b.expectWhole(3);
});

once('a server that ignores conditions is refused by doctor and at the start', async () => {
  const a = new Machine();
  server.isConditional = false;
  expect(await a.night()).toMatchObject({ code: 1, text: expect.stringContaining('conditional writes') });
  expect(service.requests.length).toBe(0);
  expect((await a.run('doctor')).text).toContain('conditional writes');
  server.isConditional = true;
  server.fault = (what) => (what.startsWith('PUT') ? '501 NotImplemented' : null);
  expect((await a.run('doctor')).text).toContain('this server lacks conditional writes');
});

testAtLength('take-overs that are killed at any moment end with a whole warehouse once one is not', async () => {
  const a = new Machine();
  await a.does('night', 'night', 'night');
  const b = new Machine();
  for (let [at, code]: [number, number | null] = [1, null]; code !== 0; at += 4) {
    if (at % 3 === 0) rmSync(b.warehouse, { recursive: true, force: true });
    const taking = start(['restore', '--take-over', '--config', b.config], { cwd: b.folder });
    let requests = 0;
    server.fault = () => {
      if (requests++ === at) taking.kill('SIGKILL');
      return requests > at ? 'cut' : null;
    };
    ({ code } = await taking.ended);
    server.fault = null;
    // What is not whole is no warehouse yet.
    if (existsSync(join(b.warehouse, 'incoming'))) expect((await b.night()).text).toContain('is not restored whole');
  }
  await b.does('night');
  expect(await a.night()).toEqual(refused);
  await b.expectWhole(4);
});
