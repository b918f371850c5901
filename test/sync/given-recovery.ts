import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { runExitCode } from '../../src/sync/receipt.js';
import { startSimulator } from '../given/client-clock.js';
import { contentOf, countFiles } from '../given/content.js';
import { temporaryFolder } from '../given/folder.js';
import { Home } from '../given/home.js';
import { leftBehind } from '../given/left-behind.js';
import { readTable } from '../given/parquet.js';
import type { StopAfter } from '../given/synced.js';

/** Every step behind which a run may die, from the end of the walk to the last follower. */
export const STEPS = [
  ...['listed', 'wrote the plan', 'planned', 'staged coverage', 'staged url_reports', 'staged page_state'],
  ...['staged all', 'wrote the manifest'],
  ...['moved coverage', 'moved url_reports', 'moved page_versions', 'moved page_state'],
  ...['wrote the marker', 'recorded the run', 'dropped the journal'],
  ...['followed the data', 'followed the marker', 'followed all markers'],
];
/** A step of each part of a commit, in `npm test`. */
export const A_FEW = ['staged all', 'moved coverage', 'wrote the marker', 'followed the data'];
export type Recovery = Awaited<ReturnType<typeof givenRecovery>>;

/** A website after a first night, the states in which its second one died, and what that night makes if it does not die. */
export async function givenRecovery(steps: string[]) {
  const root = temporaryFolder();
  const folderOf = () => mkdtempSync(join(root, 'home-'));
  const leftAt = (step: string) => join(root, step.replaceAll(' ', '-'));
  const websites = ['w', 'other'].map((id) => ({ id, pages: 50 }));
  const simulator = await startSimulator({ maxLimit: 20, seed: 3, nights: 5, websites });
  const first = new Home(folderOf(), simulator, ['w']);
  await first.sync({ follow: false });
  // Several nights, so that pages appear, go, and change.
  simulator.advance(4);
  const whole = first.copyTo(folderOf());
  await leftBehind(whole.folder, steps, leftAt, () => whole.sync());
  const unbroken = await contentOf(whole.warehouse);
  expect(unbroken['page_versions']?.length).toBeGreaterThan(0);
  const unbrokenFiles = await countFiles(whole.warehouse);
  const stopped = async (stopAfter: StopAfter) => {
    const interrupted = first.copyTo(folderOf());
    await expect(interrupted.sync({ follow: false, stopAfter })).rejects.toThrow('resumes the run');
    return interrupted;
  };
  const states = { first, listing: await stopped({ pages: 30 }), reports: await stopped({ reports: 20 }) };
  return {
    simulator,
    unbroken,
    /** The home after its first night, in the middle of the listing or of the reports, or behind a step. */
    died: (state: keyof typeof states | (string & {})): Home => {
      simulator.requests.reset();
      const home = Object.hasOwn(states, state) ? states[state as keyof typeof states] : first.at(leftAt(state));
      return home.copyTo(folderOf());
    },
    /** How often the listing was begun. */
    listings: () =>
      [...simulator.requests.byRequest].find(([request]) => /urls\/.*skip=0/.test(request))?.[1].answered ?? 0,
    expectAsUnbroken: async (home: Home, expected = unbroken) => {
      expect(home.unfinished()).toEqual([]);
      const content = await contentOf(home.warehouse);
      for (const [table, rows] of Object.entries(expected)) expect([table, content[table]]).toEqual([table, rows]);
      expect(await countFiles(home.warehouse)).toBe(unbrokenFiles);
    },
  };
}

export async function expectRecovered(world: Recovery, step: string): Promise<void> {
  const home = world.died(step);
  const snapshots = (await readTable(home.warehouse, 'snapshots')).length;
  expect(snapshots).toBe(STEPS.indexOf(step) < STEPS.indexOf('wrote the marker') ? 1 : 2);
  expect(runExitCode(await home.sync({ recoverOnly: true, follow: step.startsWith('followed') }))).toBe(0);
  await world.expectAsUnbroken(home);
}
