import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { HOUR_MS, MINUTE_MS } from '../../src/base/time.js';
import { writeConfig } from '../given/config-file.js';
import type { SmallDisk } from '../given/small-disk.js';
import { Machine } from './machine.js';
import { worldNight } from './oracle.js';
import { type Blow, type Kill, type Plan, YEAR } from './plan.js';
import { Surroundings } from './service.js';

const PAGE_SIZE = 10;
export const CONCURRENCY = 4;
/** While the disk is full nothing can be written but what it keeps for itself. */
const NOTHING_LEFT = 0;

/** A night's sync is over by then, if nothing befalls it. */
const AFTER_A_NIGHT_MS = 2 * HOUR_MS;

/** What was seen of a year. */
export interface Lived {
  machine: Machine;
  surroundings: Surroundings;
  warehouse: string;
  /** Notices that may have been sent twice: the process was killed when they were just taken. */
  mayBeDoubled: string[];
  /** By night of the world: how often the process was killed. */
  killed: Map<number, number>;
  /** Bytes in use at the beginning and at the end of the last process's life. */
  heap: { early: number; late: number };
}

interface Stop {
  at: number;
  act: () => unknown;
}

/** A year of a household, in a folder of its own. */
export async function liveThrough(plan: Plan, seed: number, folder: string, disk: SmallDisk | null): Promise<Lived> {
  mkdirSync(folder, { recursive: true });
  const machine = new Machine(folder, join(folder, 'indexhouse.yaml'), Date.UTC(YEAR, 0, 1));
  const surroundings = new Surroundings(plan, seed, machine.now);
  const warehouse = join(disk?.path ?? folder, 'warehouse');
  const heap = { early: 0, late: 0 };
  const lived = { machine, surroundings, warehouse, mayBeDoubled: [], killed: new Map(), heap };
  const addresses = await surroundings.start();
  const configure = () => writeConfiguration(plan, { folder, warehouse, ...addresses, token: surroundings.token });
  configure();
  machine.start();
  try {
    const killer = new Killer(plan, lived);
    for (const stop of stopsOf(plan, lived, { configure, killer, disk })) {
      while (!(await machine.runUntil(stop.at))) killer.startAgain();
      await stop.act();
    }
    return lived;
  } finally {
    await machine.kill();
    await surroundings.close();
  }
}

interface Means {
  configure: () => void;
  killer: Killer;
  disk: SmallDisk | null;
}

function stopsOf(plan: Plan, { machine, surroundings, heap }: Lived, { configure, killer, disk }: Means): Stop[] {
  const { revoked, full, asleep, off } = plan;
  const renewKey = async () => {
    await machine.stop();
    surroundings.token = 'second-token';
    configure();
    machine.start();
  };
  const turnOff = async () => {
    await machine.kill();
    machine.pass(off.to - off.from);
    machine.start();
  };
  const stops: Stop[] = [
    { at: revoked.to, act: renewKey },
    { at: asleep.from, act: () => machine.sleep(asleep.to - asleep.from) },
    { at: off.from, act: turnOff },
    { at: full?.from ?? 0, act: () => disk?.fill(NOTHING_LEFT) },
    { at: full?.to ?? 0, act: () => disk?.relieve() },
    ...plan.kills.flatMap((kill): Stop[] => [
      { at: kill.at - MINUTE_MS, act: () => killer.aim(kill) },
      { at: kill.at + AFTER_A_NIGHT_MS, act: () => killer.killWhoWaits() },
    ]),
    {
      at: Date.UTC(YEAR, 8, 28),
      act: async () => {
        heap.early = await machine.heap();
      },
    },
    {
      at: Date.UTC(YEAR + 1, 0, 1) - HOUR_MS,
      act: async () => {
        heap.late = await machine.heap();
        await machine.stop();
      },
    },
  ];
  return stops.filter(({ at }) => at > 0).sort((one, other) => one.at - other.at);
}

/** Kills the process when the plan says so. */
class Killer {
  /** What is left of a night's. */
  #blows: Blow[] = [];

  constructor(
    private readonly plan: Plan,
    private readonly lived: Lived,
  ) {}

  /** Waits for the moments of a night in which to kill. */
  aim({ blows }: Kill): void {
    this.#blows = [...blows];
    this.#aimNext();
  }

  #aimNext(): void {
    const [blow] = this.#blows;
    const { surroundings, machine } = this.lived;
    let requests = 0;
    surroundings.onEvent = (event) => {
      if (!blow) return;
      if (event === 'request') requests++;
      const isMoment = blow.onMessage ? event === 'message' : requests > blow.requests;
      if (!isMoment) return;
      surroundings.onEvent = () => {};
      setTimeout(() => {
        if (this.#blows[0] === blow) void machine.kill();
      }, blow.delayMs);
    };
  }

  /** Whoever was not killed at work is killed now. */
  async killWhoWaits(): Promise<void> {
    while (this.#blows.length > 0) {
      await this.lived.machine.kill();
      this.startAgain();
    }
  }

  /** After a kill, some time later. */
  startAgain(): void {
    const { machine, surroundings, killed, mayBeDoubled } = this.lived;
    const night = worldNight(this.plan, machine.now());
    killed.set(night, (killed.get(night) ?? 0) + 1);
    mayBeDoubled.push(...surroundings.justTaken);
    surroundings.justTaken = [];
    machine.pass(this.#blows.shift()?.pauseMs ?? 0);
    machine.start();
    this.#aimNext();
  }
}

interface Configured {
  folder: string;
  warehouse: string;
  service: string;
  webhook: string;
  token: string;
}

function writeConfiguration({ household }: Plan, { folder, warehouse, service, webhook, token }: Configured): void {
  const { timeZone, cron, maxAgeMs, websites } = household;
  const sections = {
    api: { page_size: PAGE_SIZE, concurrency: CONCURRENCY },
    warehouse: { path: warehouse, time_zone: timeZone },
    status: { max_age: `${maxAgeMs / HOUR_MS}h` },
    schedule: { time_zone: timeZone, 'nightly-sync': cron },
    notify: { channels: [{ type: 'webhook', url: webhook }], watch: ['*'] },
  };
  writeConfig(folder, { baseUrl: service, token, websites: websites.map(({ id }) => id), sections });
}
