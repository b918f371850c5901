import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Simulator } from '../../src/app/demo/simulator/simulator.js';
import { realRunEffects } from '../../src/sync/context.js';
import type { Receipt } from '../../src/sync/receipt.js';
import { run } from '../given/cli.js';
import { startSimulator } from '../given/client-clock.js';
import { contentOf } from '../given/content.js';
import { temporaryFolder } from '../given/folder.js';
import { Home } from '../given/home.js';

const KIB = 1024;
const BLOCK_BYTES = 4096;
const DISK_BYTES = 48e6;

/** A disk of its own, in memory, that a test may fill or make read-only. */
class SmallDisk {
  private constructor(readonly path: string) {}

  /** Null where this user may not mount. */
  static mount(): SmallDisk | null {
    const path = mkdtempSync(join(tmpdir(), 'indexhouse-disk-'));
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', path], { stdio: 'ignore' });
      return new SmallDisk(path);
    } catch {
      rmSync(path, { recursive: true });
      return null;
    }
  }

  /** Takes all of the space but this. */
  fill(left: number): void {
    const file = openSync(this.#ballast, 'w');
    const block = Buffer.alloc(BLOCK_BYTES);
    const { bavail, bsize } = statfsSync(this.path);
    for (let bytes = bavail * bsize - left; bytes >= BLOCK_BYTES; bytes -= BLOCK_BYTES) writeSync(file, block);
    closeSync(file);
  }

  relieve(): void {
    rmSync(this.#ballast, { force: true });
  }

  remount(mode: 'ro' | 'rw'): void {
    execFileSync('mount', ['-o', `remount,${mode}`, this.path]);
  }

  /** Also where something still holds a file on it. */
  unmount(): void {
    execFileSync('umount', ['-l', this.path]);
    rmSync(this.path, { recursive: true });
  }

  get #ballast(): string {
    return join(this.path, 'ballast');
  }
}

const probe = SmallDisk.mount();
probe?.unmount();
const MAY_NOT_MOUNT = probe === null;
/** The disk is full before anybody looks at it. */
const EVER_ROOM = { ...realRunEffects, diskOf: async () => ({ free: 1, reserve: 0 }) };
const SKIPPED = MAY_NOT_MOUNT ? ' (SKIPPED: this user may not mount a tmpfs)' : '';

let simulator: Simulator;
let first: Home;
let unbroken: Record<string, string[]>;

beforeAll(async () => {
  const root = temporaryFolder();
  simulator = await startSimulator({ maxLimit: 20, seed: 3, nights: 5, websites: [{ id: 'w', pages: 80 }] });
  first = new Home(mkdtempSync(join(root, 'home-')), simulator, ['w'], {}, EVER_ROOM);
  await first.sync();
  simulator.advance(4);
  const whole = first.copyTo(mkdtempSync(join(root, 'home-')));
  await whole.sync();
  unbroken = await contentOf(whole.warehouse);
});

describe.skipIf(MAY_NOT_MOUNT)(`a disk that is full${SKIPPED}`, () => {
  let disk: SmallDisk;
  beforeEach(() => {
    disk = SmallDisk.mount() ?? expect.fail('mounting worked a moment ago');
  });
  afterEach(() => disk.unmount());

  test.for([
    ['what the run is', 0, '/run.json'],
    ['the reports', 100, '/reports.ndjson'],
    ['the staged files', 190, '/staged/'],
    ['indexhouse.duckdb', 300, '/warehouse/indexhouse.duckdb'],
  ] as const)('before %s: a clear error, nothing lost, and the next sync goes on', async ([, kib, file]) => {
    const home = first.copyTo(mkdtempSync(join(disk.path, 'home-')));
    disk.fill(kib * KIB);
    const failed = await home.sync().catch((error: unknown) => String(error));
    disk.relieve();
    expect(notWritten(failed, home.folder)).toContain(file);
    expect((await home.wrong()).filter(({ level }) => level === 'difference')).toEqual([]);
    const had = home.unfinished().length > 0 ? home.journaled('w') : [];
    simulator.requests.reset();
    const isCommitted = typeof failed !== 'string' && failed.websites.every(({ status }) => status === 'committed');
    const receipt = await home.sync({ recoverOnly: isCommitted });
    expect(home.asked().filter((url) => had.includes(url))).toEqual([]);
    expect(receipt.websites.map(({ status }) => status)).toEqual(isCommitted ? [] : ['committed']);
    expect(receipt.followers.map(({ behind }) => behind)).toEqual([0, 0]);
    expect((await home.verify()).findings).toEqual([]);
    expect(await contentOf(home.warehouse)).toEqual(unbroken);
  });

  test('that is read-only: the command names the path, and nothing is lost', async () => {
    const home = first.copyTo(mkdtempSync(join(disk.path, 'home-')));
    const before = await contentOf(home.warehouse);
    disk.remount('ro');
    const { code, stderr } = await run(['sync', '--config', home.config]);
    expect(code).toBe(1);
    expect(stderr).toContain(home.warehouse);
    expect(stderr).toContain('mounted read-only');
    expect(await contentOf(home.warehouse)).toEqual(before);
    disk.remount('rw');
    expect(await home.syncOne()).toMatchObject({ status: 'committed' });
    expect(await contentOf(home.warehouse)).toEqual(unbroken);
  });
});

/** What a sync on a full disk said, each with what to do about it. */
function notWritten(failed: Receipt | string, folder: string): string {
  if (typeof failed === 'string') return failed;
  const said = [...failed.websites.map(({ error }) => error), ...failed.followers.map(({ reason }) => reason)];
  const errors = said.filter((text) => text !== undefined);
  for (const error of errors) expect(error).toMatch(new RegExp(`(?=.*The disk is full).*${folder}`, 's'));
  return errors.join('\n');
}
