import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { startSimulator } from '../given/client-clock.js';
import { contentOf, countFiles } from '../given/content.js';
import { temporaryFolder } from '../given/folder.js';
import { Home } from '../given/home.js';
import { leftBehind } from '../given/left-behind.js';
import type { StopAfter } from '../given/synced.js';

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
