import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Forecast, type ForecastInput, forecast, type WantedOf } from '../../src/forecast/forecast.js';
import { realEffects } from '../../src/source/effects.js';
import type { DamagedFile } from '../../src/warehouse/damage.js';
import { configFor } from '../given/warehouse.js';

/** Nobody listens there: whoever asks for anything fails. */
export const NOBODY = 'http://127.0.0.1:9';
const NEXT_SYNC = '2025-03-20T02:00:00.000Z';

export interface GivenPlan {
  warehouse: string;
  at: Date;
  baseUrl?: string;
  /** Ids; `all` if left out. */
  websites?: string[];
  sections?: Record<string, Record<string, unknown>>;
  input?: Partial<ForecastInput>;
}

/** A forecast at a time of the test's choosing, and every page that it knows to be wanted. */
export async function plan(
  given: GivenPlan,
): Promise<{ forecast: Forecast; wanted: WantedOf[]; damaged: readonly DamagedFile[] }> {
  const { warehouse, at, baseUrl = NOBODY, websites, sections = {}, input = {} } = given;
  const config = configFor({ baseUrl, warehouse, sections });
  const wanted: WantedOf[] = [];
  let now = at.getTime();
  const { planned, damaged } = await forecast({
    config: websites ? { ...config, websites: websites.map((id) => ({ id })) } : config,
    websites: [],
    ask: 'unknown',
    first: 10,
    asScheduled: true,
    signal: new AbortController().signal,
    effects: {
      ...realEffects,
      now: () => now,
      sleep: async (ms) => {
        now += ms;
      },
      nextTime: () => new Date(NEXT_SYNC),
    },
    writeWanted: async (pages) => {
      for await (const page of pages) wanted.push(page);
    },
    ...input,
  });
  return { forecast: planned, wanted, damaged };
}

/** Every file below a folder, with its size and when it was written. */
export function contentsOf(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  return names.map((name) => {
    const { size, mtimeMs } = statSync(join(folder, name));
    return `${name} ${size} ${mtimeMs}`;
  });
}
