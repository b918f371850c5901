import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { exitCodeOf } from '../../src/run/receipt.js';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.js';
import { seeds } from '../given/at-length.js';
import { contentOf } from '../given/content.js';
import { Home } from '../given/home.js';

/** Few, because each is a whole run. */
const RUNS = seeds(4).length;
const FILES = ['run.json', 'listing.ndjson', 'plan.ndjson', 'planned.json', 'reports.ndjson'] as const;

let simulator: Simulator;
let root: string;
/** The same night, interrupted in the listing and in the reports. */
const interrupted: Home[] = [];
/** A walk goes on within ten minutes only, and many runs take longer. */
let interruptedAt: number;
let unbroken: Record<string, string[]>;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'indexhouse-damages-'));
  simulator = await startSimulator({ seed: 8, websites: [{ id: 'w', pages: 60 }] });
  const first = new Home(folder(), simulator, ['w']);
  await first.sync({ follow: false });
  simulator.advance(3);
  for (const stopAfter of [{ pages: 30 }, { reports: 25 }]) {
    const home = first.copyTo(folder());
    await expect(home.sync({ stopAfter })).rejects.toThrow('resumes the run');
    interrupted.push(home);
  }
  interruptedAt = Date.now();
  const whole = first.copyTo(folder());
  await whole.sync({ follow: false });
  unbroken = await contentOf(whole.warehouse);
});

afterAll(async () => {
  await simulator.close();
  rmSync(root, { recursive: true, force: true });
});

function folder(): string {
  return mkdtempSync(join(root, 'home-'));
}

const damages = fc.array(
  fc.record({
    file: fc.constantFrom(...FILES),
    at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    take: fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: 5000 })),
    put: fc.oneof(
      fc.uint8Array({ maxLength: 8 }),
      fc.nat({ max: 4096 }).map((length) => new Uint8Array(length)),
    ),
    isGone: fc.nat({ max: 5 }).map((draw) => draw === 0),
  }),
  { minLength: 1, maxLength: 3 },
);

it('whatever is damaged in the journal of an interrupted run, the next sync commits what is true', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(0, 1), damages, async (stage, all) => {
      const home = interrupted[stage]?.copyTo(folder());
      if (!home) throw new Error('no run was interrupted');
      const journal = home.journal('w');
      for (const { file, at, take, put, isGone } of all) {
        const path = join(journal, file);
        const bytes = bytesOf(path);
        const from = Math.floor(at * bytes.length);
        if (isGone) rmSync(path, { force: true });
        else if (bytes.length > 0) {
          writeFileSync(path, Buffer.concat([bytes.subarray(0, from), put, bytes.subarray(from + take)]));
        }
      }
      const startedAt = Date.now();
      const clock = () => interruptedAt + Date.now() - startedAt;
      const receipt = await home.sync({ follow: false, clock });
      expect(receipt.websites).toMatchObject([{ status: 'committed', listing_status: 'complete' }]);
      expect([0, 3]).toContain(exitCodeOf(receipt, 1));
      expect(receipt.websites[0]?.set_aside === undefined).toBe(exitCodeOf(receipt, 1) === 0);
      expect(await contentOf(home.warehouse)).toEqual(unbroken);
      rmSync(home.folder, { recursive: true });
    }),
    { numRuns: RUNS },
  );
});

function bytesOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}
