import { randomUUID } from 'node:crypto';
import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { watchCrashPoints } from '../../../src/base/storage/crash-point.js';
import { summedJson } from '../../../src/base/storage/summed-json.js';
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
const TAKE_OVER = '`indexhouse restore --take-over`';

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
    sections: { bucket: server.config, reports: { max_per_run: 0 } },
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
const refused = (text = 'is written by') => ({ code: 1, text: expect.stringContaining(text) });
const done = { code: 0, text: expect.any(String) };

/** Two machines; the second one became the writer after the first one's night. */
async function takenOver(): Promise<[Machine, Machine]> {
  const [a, b] = [new Machine(), new Machine()];
  expect(await a.night()).toEqual(done);
  expect(await b.run('restore --take-over --if-missing')).toEqual(done);
  return [a, b];
}

once('another machine is refused before its first request, with the command that makes it the writer', async () => {
  const [a, b] = [new Machine(), new Machine()];
  expect(await a.night()).toEqual(done);
  const asked = service.requests.length;
  expect(await b.night()).toEqual(refused('holds another warehouse'));
  // A plain restore does not make it the writer.
  rmSync(b.warehouse, { recursive: true });
  expect(await b.run('restore')).toEqual(done);
  const { code, text } = await b.night();
  expect(code).toBe(1);
  expect(text).toContain(TAKE_OVER);
  for (const command of ['maintain', 'schedule --once maintain', 'verify --repair'])
    expect([command, (await b.run(command)).code]).toEqual([command, 1]);
  expect(service.requests.length).toBe(asked);
  expect(await a.night()).toEqual(done);
  await a.expectWhole(2);
});

testAtLength('two first nights at once: one machine commits, the other one is refused', async () => {
  const [a, b] = [new Machine(), new Machine()];
  const codes = (await Promise.all([a.night(), b.night()])).map(({ code }) => code);
  expect(codes.sort()).toEqual([0, 1]);
  expect(keys('lease/')).toEqual(['lease/00000001']);
  await (existsSync(join(a.warehouse, 'parquet', 'snapshots', 'website=shop')) ? a : b).expectWhole(1);
});

describeAtLength('a machine that was taken over', () => {
  test('is refused; status names what only it has, which one command sets aside', async () => {
    const a = new Machine();
    expect(await a.night()).toEqual(done);
    server.fault = () => '403 AccessDenied';
    expect((await a.night()).code).toBe(3);
    const [, only = ''] = await a.ids();
    server.fault = null;
    const b = new Machine();
    expect(await b.run('restore --take-over')).toEqual(done);
    expect(await b.night()).toEqual(done);
    expect(await a.night()).toEqual(refused());
    expect(await a.run('maintain')).toEqual(refused());
    const status = await a.run('status');
    expect(status.code).not.toBe(0);
    expect(status.text).toContain(`only this folder has ${only}; ${TAKE_OVER}`);
    await b.expectWhole(2);
    expect(await a.run('restore --take-over')).toMatchObject({ code: 0, text: expect.stringContaining('set-aside') });
    const [aside = ''] = readdirSync(join(a.warehouse, 'set-aside'));
    expect(existsSync(join(a.warehouse, 'set-aside', aside, 'parquet', 'snapshots'))).toBe(true);
    expect(await b.night()).toEqual(refused());
    expect(await a.night()).toEqual(done);
    await a.expectWhole(3);
  });

  test.each([
    ['wrote the manifest', 1],
    ['sent the data', 1],
    ['sent the state', 1],
    ['sent the marker', 2],
  ])('while it slept after it %s commits and sends nothing more', async (step, sent) => {
    const [a, b] = [new Machine(), new Machine()];
    expect(await a.night()).toEqual(done);
    let taking: Promise<unknown> | null = null;
    const waiting = watchCrashPoints((at) => {
      if (at !== step || taking) return;
      // Another process, because this one stands still.
      taking = Promise.resolve();
      takeOverNow(b);
    });
    onTestFinished(waiting);
    const { code } = await a.night();
    waiting();
    expect(taking).not.toBeNull();
    expect(code).not.toBe(0);
    expect(markers()).toHaveLength(sent);
    expect(await b.run('restore --take-over')).toEqual(done);
    expect(await b.night()).toEqual(done);
    await b.expectWhole(sent + 1);
  });
});

/** Puts the next lease there at once, as a take-over on that machine does. */
function takeOverNow(machine: Machine): void {
  const [newest = ''] = keys('lease/').sort().reverse();
  const { sha256: _, ...lease } = JSON.parse(String(server.objects.get(newest)?.body));
  const number = String(Number(newest.slice(-8)) + 1).padStart(8, '0');
  const body = Buffer.from(summedJson({ ...lease, writer: randomUUID(), where: machine.folder }));
  server.objects.set(`lease/${number}`, { body, modified: new Date() });
}

testAtLength('a marker that arrives after the take-over is found before the next night, and taken out', async () => {
  const [a, b] = await takenOver();
  server.fault = (what) => (what.startsWith('PUT') ? '403 AccessDenied' : null);
  const late = new Machine();
  cpSync(a.warehouse, late.warehouse, { recursive: true });
  server.fault = null;
  expect(await b.night()).toEqual(done);
  const [first = ''] = keys('parquet/snapshots/').sort();
  // Older than the new writer's own: it was sent before the take-over.
  const key = first.replace(/[^/]+\.parquet$/, `${String((await a.ids())[0]).slice(0, -4)}ffff.parquet`);
  server.objects.set(key, { ...(server.objects.get(first) ?? { body: Buffer.of() }), modified: new Date() });
  expect(await b.night()).toEqual(refused('holds 1 commit that'));
  expect(await b.run('restore --take-over')).toEqual(done);
  expect(await b.night()).toEqual(done);
  await b.expectWhole(3);
});

testAtLength('a machine that loses its disk goes on unattended, from its first night on', async () => {
  const a = new Machine();
  const first = start(['sync', '--config', a.config], { cwd: a.folder });
  await vi.waitFor(() => expect(keys('lease/0')).toHaveLength(1), { timeout: 20_000 });
  first.kill('SIGKILL');
  await first.ended;
  for (let lost = 0; lost < LOST; lost++) {
    rmSync(a.warehouse, { recursive: true, force: true });
    expect(await a.run('restore --take-over --if-missing')).toEqual(done);
    expect(await a.night()).toEqual(done);
    expect(await a.run('restore --take-over --if-missing')).toEqual(done);
    expect(await a.night()).toEqual(done);
  }
  expect(keys('lease/')).toHaveLength(1 + LOST);
  await a.expectWhole(2 * LOST);
});

testAtLength('answers that are lost after a PUT change nothing', async () => {
  const a = new Machine();
  const seen = new Set<string>();
  server.fault = (what) => (/^PUT .*(lease|snapshots)/.test(what) && seen.size < seen.add(what).size ? 'kept' : null);
  expect(await a.night()).toEqual(done);
  expect(await a.night()).toEqual(done);
  server.fault = null;
  expect(keys('lease/')).toEqual(['lease/00000001']);
  await a.expectWhole(2);
});

testAtLength('without its bucket, only a machine that was confirmed last time commits', async () => {
  const [a, b] = await takenOver();
  server.fault = () => '403 AccessDenied';
  expect((await b.night()).code).toBe(3);
  const c = new Machine();
  expect(await c.night()).toEqual(refused('nothing is written'));
  server.fault = null;
  expect(await a.night()).toEqual(refused());
  server.fault = () => '403 AccessDenied';
  expect(await a.night()).toEqual(refused('nothing is written'));
  server.fault = null;
  expect(await b.night()).toEqual(done);
  await b.expectWhole(3);
});

once('a server that ignores conditions is refused by doctor and at the start', async () => {
  const a = new Machine();
  server.isConditional = false;
  expect(await a.night()).toEqual(refused('conditional writes'));
  expect(service.requests.length).toBe(0);
  expect((await a.run('doctor')).text).toContain('conditional writes');
});

testAtLength('take-overs that are killed at any moment end with a whole warehouse once one is not', async () => {
  const a = new Machine();
  for (let night = 0; night < 3; night++) expect(await a.night()).toEqual(done);
  const b = new Machine();
  for (let kill = 0; kill < 12; kill++) {
    if (kill % 5 === 0) rmSync(b.warehouse, { recursive: true, force: true });
    const taking = start(['restore', '--take-over', '--config', b.config], { cwd: b.folder });
    setTimeout(() => taking.kill('SIGKILL'), 200 + 40 * kill);
    await taking.ended;
  }
  expect(await b.run('restore --take-over')).toEqual(done);
  expect(await b.night()).toEqual(done);
  expect(await a.night()).toEqual(refused());
  await b.expectWhole(4);
});
