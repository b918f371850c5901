import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { Bucket } from '../../src/bucket/client.js';
import { fetchJournals, JournalMirror } from '../../src/bucket/journals.js';
import { journalFolder, unfinishedJournals } from '../../src/journal/folder.js';
import { createLogger } from '../../src/observe/log.js';
import { realRunEffects } from '../../src/run/context.js';
import { mirrorJournals } from '../../src/run/mirror.js';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.js';
import { testAtLength } from '../given/at-length.js';
import { type GivenBucket, startBucket } from '../given/bucket.js';
import { run } from '../given/cli.js';
import { temporaryFolder } from '../given/folder.js';
import { Home } from '../given/home.js';
import { readTable } from '../given/parquet.js';
import { given } from '../given/synced.js';

const PAGES = 40;
let simulator: Simulator;
let server: GivenBucket;
let home: Home;

beforeAll(async () => {
  simulator = await startSimulator({ websites: [{ id: 'a/b', pages: PAGES }], nights: 2 });
});
afterAll(() => simulator.close());
beforeEach(async () => {
  server = await startBucket({ pageSize: 4 });
  home = machine();
});
afterEach(() => server.close());

/** A machine that shares nothing with others but the bucket. */
function machine(journal = true): Home {
  return new Home(temporaryFolder(), simulator, ['a/b'], { bucket: { ...server.config, journal } });
}

const keys = (prefix: string) => [...server.objects.keys()].filter((key) => key.startsWith(prefix));
/** Of these reports, those that were asked for since the counts began. */
const asked = (urls: readonly string[]) => urls.filter((url) => simulator.requests.reports().has(url));

describe('the journal in the bucket', () => {
  test('continues the night of a lost machine elsewhere, without asking for anything again', async () => {
    await expect(home.sync({ stopAfter: { reports: 25 } })).rejects.toThrow('stopped');
    const journaled = home.journaled('a%2Fb');
    expect(journaled.length).toBeGreaterThanOrEqual(25);
    rmSync(home.folder, { recursive: true });

    const other = machine();
    const { code, stdout } = await run(['restore', '--if-missing', '--config', other.config]);
    expect(code, stdout).toBe(0);
    expect(stdout).toContain('1 unfinished run: the next sync resumes');
    expect(other.journaled('a%2Fb')).toEqual(journaled);
    simulator.requests.reset();
    const receipt = await other.sync();
    expect(receipt.websites).toMatchObject([{ status: 'committed', resumed: true, reports: { fetched: PAGES } }]);
    expect(receipt.followers).toContainEqual({ name: 'bucket', behind: 0 });
    expect(asked(journaled)).toEqual([]);
    expect(await readTable(other.warehouse, 'url_reports')).toHaveLength(PAGES);
    expect(keys('runs/')).toEqual([]);
    expect(keys('parquet/snapshots/')).toHaveLength(1);
  });

  test('is resumed by one of two machines that have it: one commit of the night, and nothing is asked for twice', async () => {
    await expect(home.sync({ stopAfter: { reports: 15 } })).rejects.toThrow('stopped');
    const journaled = home.journaled('a%2Fb');
    const others = [machine(), machine()];
    for (const { config } of others) expect((await run(['restore', '--config', config])).code).toBe(0);
    simulator.requests.reset();
    const receipts = await Promise.all(others.map((other) => other.sync({ longestSleep: 20 })));
    const [first, second] = receipts.flatMap(({ websites }) => websites).sort((a, b) => (a.status < b.status ? -1 : 1));
    expect(first).toMatchObject({ status: 'committed', reports: { fetched: PAGES } });
    expect(second).toMatchObject({ status: 'failed', error: expect.stringMatching(/another machine/) });
    expect(asked(journaled)).toEqual([]);
    expect([...simulator.requests.reports().values()].filter(({ attempted }) => attempted > 1)).toEqual([]);
    expect(keys('parquet/snapshots/')).toHaveLength(1);
    expect(keys('runs/')).toEqual([]);
  });

  testAtLength(
    'is resumed by a third machine with all that the second one received before it was stopped',
    async () => {
      await expect(home.sync({ stopAfter: { reports: 5 } })).rejects.toThrow('stopped');
      const [second, third] = [machine(), machine()];
      for (const { config } of [second, third]) expect((await run(['restore', '--config', config])).code).toBe(0);
      await expect(second.sync({ stopAfter: { reports: 20 } })).rejects.toThrow('stopped');
      const journaled = second.journaled('a%2Fb');
      expect(journaled.length).toBeGreaterThan(home.journaled('a%2Fb').length);
      simulator.requests.reset();
      expect(await third.syncOne()).toMatchObject({ status: 'committed', reports: { fetched: PAGES } });
      expect(asked(journaled)).toEqual([]);
      // What the second one is at it then finds ended.
      expect(await second.sync({ recoverOnly: true })).toMatchObject({
        websites: [],
        followers: [{}, {}, { behind: 0 }],
      });
      expect(second.unfinished()).toEqual([]);
      expect(keys('parquet/snapshots/')).toHaveLength(1);
    },
  );

  testAtLength(
    'is kept where it holds more than the bucket, though another machine had the run meanwhile',
    async () => {
      await expect(home.sync({ stopAfter: { pages: 20 } })).rejects.toThrow('stopped');
      const bucket = new Bucket(server.config, { env: {} });
      const other = machine();
      await fetchJournals(bucket, other.warehouse);
      const [folder] = await unfinishedJournals(other.warehouse);
      const mirror = new JournalMirror(bucket, other.warehouse);
      if (folder) expect(await mirror.claim(folder, async () => {})).toBe('ours');
      await mirror.release();
      server.fault = (request) => (request.startsWith('PUT') && request.includes('runs/') ? '403 AccessDenied' : null);
      const stopped = home.sync({ stopAfter: { reports: 15 }, longestSleep: 0 });
      await expect(stopped).rejects.toThrow('stopped');
      server.fault = null;
      const journaled = home.journaled('a%2Fb');
      simulator.requests.reset();
      expect(await home.syncOne()).toMatchObject({ status: 'committed', reports: { fetched: PAGES } });
      expect(asked(journaled)).toEqual([]);
      await bucket.close();
    },
  );

  test('is left to another machine while that gives signs of life, and taken over once it is silent', async () => {
    await expect(home.sync({ stopAfter: { pages: 20 } })).rejects.toThrow('stopped');
    const bucket = new Bucket(server.config, { env: {} });
    const began = Date.now();
    let waited = 0;
    server.now = () => began + waited;
    const restored = async () => {
      const { warehouse } = machine();
      expect(await fetchJournals(bucket, warehouse)).toBe(1);
      const mirror = new JournalMirror(bucket, warehouse);
      await mirror.begin();
      return { mirror, folders: await unfinishedJournals(warehouse) };
    };
    const [one, two] = [await restored(), await restored()];
    // It stopped in peace, and begins again.
    const first = new JournalMirror(bucket, home.warehouse);
    await first.send();
    const claim = ({ mirror, folders }: typeof one, meanwhile: () => Promise<void> = async () => {}) =>
      mirror.claim(folders[0] ?? journalFolder('', '', ''), async (ms) => {
        waited += ms;
        await meanwhile();
      });
    expect(await claim(one, () => first.send())).toBe('taken');
    await first.release();
    waited = 0;
    expect([await claim(one), waited]).toEqual(['ours', 0]);
    expect([await claim(one), waited], 'again').toEqual(['ours', 0]);
    expect(await claim(two, () => one.mirror.send())).toBe('taken');
    const parts = keys('runs/');
    await two.mirror.send();
    expect(keys('runs/'), 'and nothing of it is sent').toEqual(parts);
    expect(await claim(two)).toBe('ours');
    expect(waited).toBeGreaterThan(120_000);
    await one.mirror.send();
    const sent = server.requests.length;
    await one.mirror.send();
    expect(server.requests.slice(sent), 'it was not lost, but away').toEqual([]);
    await bucket.close();
  });

  testAtLength('costs a lost machine no more than what was received since it was last sent', async () => {
    const lost = machine(false);
    const bucket = new Bucket(server.config, { env: {} });
    const mirror = new JournalMirror(bucket, lost.warehouse);
    for (const stopAfter of [{ pages: 20 }, { reports: 5 }, { reports: 15 }]) {
      await expect(lost.sync({ stopAfter })).rejects.toThrow('stopped');
      await mirror.send();
    }
    const sent = lost.journaled('a%2Fb');
    const before = server.requests.length;
    await mirror.send();
    expect(server.requests.slice(before).filter((request) => /^PUT (?!.*claim-)/.test(request))).toEqual([]);
    await expect(lost.sync({ stopAfter: { reports: 30 } })).rejects.toThrow('stopped');
    expect(lost.journaled('a%2Fb').length).toBeGreaterThan(sent.length);

    const other = machine();
    expect(await fetchJournals(bucket, other.warehouse)).toBe(1);
    expect(await fetchJournals(bucket, other.warehouse), 'it is there').toBe(0);
    // Long enough to be taken for dead.
    server.now = () => Date.now() + 600_000;
    for (const name of ['listing.ndjson', 'plan.ndjson']) {
      const [here, there] = [lost, other].map((one) => readFileSync(join(one.journal('a%2Fb'), name)));
      expect(there?.equals(here ?? Buffer.alloc(0)), name).toBe(true);
    }
    const [mine, theirs] = [lost, other].map((one) => readFileSync(join(one.journal('a%2Fb'), 'run.json'), 'utf8'));
    const idIn = (text = '') => JSON.parse(text).snapshot_id;
    expect(idIn(theirs), 'the other may be alive').not.toBe(idIn(mine));
    simulator.requests.reset();
    expect((await other.sync()).websites).toMatchObject([{ status: 'committed', reports: { fetched: PAGES } }]);
    expect(asked(sent)).toEqual([]);

    // It was not lost, but away: its run was finished elsewhere, so it starts another.
    const back = await lost.sync();
    expect(back.websites[0]).toMatchObject({ status: 'committed', resumed: false, reports: { fetched: PAGES } });
    expect(await readTable(lost.warehouse, 'snapshots')).toHaveLength(2);
    expect((await lost.verify()).findings.filter(({ level }) => level === 'difference')).toEqual([]);
    expect(keys('runs/')).toEqual([]);
    await bucket.close();
  });

  testAtLength('of a run whose commit is there is not resumed, though its row was not sent any more', async () => {
    await expect(home.sync({ stopAfter: { reports: 5 } })).rejects.toThrow('stopped');
    const parts = [...server.objects].filter(([key]) => key.startsWith('runs/'));
    expect(parts.length).toBeGreaterThan(3);
    await home.sync();
    for (const key of keys('parquet/runs/')) server.objects.delete(key);
    for (const [key, part] of parts) server.objects.set(key, part);
    const bucket = new Bucket(server.config, { env: {} });
    const other = machine();
    expect(await fetchJournals(bucket, other.warehouse)).toBe(0);
    for (const key of keys('parquet/snapshots/')) server.objects.delete(key);
    expect(await fetchJournals(bucket, other.warehouse)).toBe(1);
    await bucket.close();
  });

  test('is sent again and again while the run goes on', async () => {
    const quiet = machine(false);
    const config = await given(machine().config);
    const { signal } = new AbortController();
    const { stop } = await mirrorJournals(
      { config, warehouse: quiet.warehouse, log: createLogger({ level: 'silent' }), effects: realRunEffects, signal },
      5,
    );
    await expect(quiet.sync({ stopAfter: { pages: 20 } })).rejects.toThrow('stopped');
    await vi.waitFor(() => expect(keys('runs/').map((key) => key.split('/')[3])).toContain('listing'));
    const sent = keys('runs/').length;
    await expect(quiet.sync({ stopAfter: { reports: 5 } })).rejects.toThrow('stopped');
    await vi.waitFor(() => expect(keys('runs/').map((key) => key.split('/')[3])).toContain('reports'));
    expect(keys('runs/').length).toBeGreaterThan(sent);
    await stop();
  });
});
