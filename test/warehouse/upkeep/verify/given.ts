import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach } from 'vitest';
import type { Simulator } from '../../../../src/app/demo/simulator/simulator.js';
import { startSimulator } from '../../../given/client-clock.js';
import { temporaryFolder } from '../../../given/folder.js';
import { Home } from '../../../given/home.js';

/** A warehouse of two nights, as it should be; each test gets a copy of its own. */
export interface Given {
  simulator: Simulator;
  root: string;
  home: Home;
}

export function givenTwoNights(): Given {
  const given = {} as Given;
  let clean: Home;
  beforeAll(async () => {
    given.root = temporaryFolder();
    given.simulator = await startSimulator({ maxLimit: 20, seed: 6, nights: 2, websites: [{ id: 'w', pages: 20 }] });
    clean = new Home(mkdtempSync(join(given.root, 'home-')), given.simulator, ['w']);
    for (let night = 0; night < 2; night++) {
      await clean.sync({ follow: night === 1 });
      given.simulator.advance(2);
    }
  });
  beforeEach(() => {
    given.home = clean.copyTo(mkdtempSync(join(given.root, 'home-')));
  });
  return given;
}
