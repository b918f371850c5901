import { mkdtempSync, readdirSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { startSimulator } from '../given/client-clock.js';
import { contentOf, countFiles } from '../given/content.js';
import { temporaryFolder } from '../given/folder.js';
import { Home } from '../given/home.js';
import { leftBehind } from '../given/left-behind.js';
import type { StopAfter } from '../given/synced.js';

const TOO_LATE_MS = 7 * 3_600_000;
/** So late that an interrupted run is not resumed. */
export const TOO_LATE = { follow: false, laterMs: TOO_LATE_MS };

export type Recovery = Awaited<ReturnType<typeof givenRecovery>>;

/** A website after a first night, the states in which its second one died, and what that night makes if it does not die. */
export async function givenRecovery(steps: readonly string[]) {
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
  const states = { listing: await stopped({ pages: 30 }), reports: await stopped({ reports: 20 }) };
  /** The home in this state: in the middle of the listing, of the reports, or behind a step. */
  const died = (state: string): Home => {
    simulator.requests.reset();
    if (state === 'first') return first.copyTo(folderOf());
    const home = state === 'listing' || state === 'reports' ? states[state] : new Home(leftAt(state), simulator, ['w']);
    return home.copyTo(folderOf());
  };
  /** How often the listing was begun. */
  const listings = () =>
    [...simulator.requests.byRequest].find(([request]) => /urls\/.*skip=0/.test(request))?.[1].answered ?? 0;
  const expectAsUnbroken = async (home: Home, expected = unbroken) => {
    expect(readdirSync(join(home.warehouse, 'runs')).filter((name) => name !== 'damaged')).toEqual([]);
    const content = await contentOf(home.warehouse);
    for (const [table, rows] of Object.entries(expected)) expect([table, content[table]]).toEqual([table, rows]);
    expect(await countFiles(home.warehouse)).toBe(unbrokenFiles);
  };
  return { simulator, unbroken, died, listings, expectAsUnbroken };
}

/** Takes bytes off the end of a file of the only unfinished run. */
export function cut(home: Home, name: string, bytes: number): void {
  const file = join(home.journal('w'), name);
  truncateSync(file, Math.max(0, readFileSync(file).length - bytes));
}

/** What `verify` finds. Where no follower runs, that they lag is no fault. */
export async function wrong(home: Home) {
  return (await home.wrong()).filter(({ level }) => level !== 'lag');
}

/** How many reports an interrupted run planned. */
export function wantedOf(home: Home): number {
  return JSON.parse(readFileSync(join(home.journal('w'), 'planned.json'), 'utf8')).wanted;
}
