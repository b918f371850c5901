import { createLogger } from '../../src/observe/log.js';
import { type RunEffects, realRunEffects } from '../../src/run/context.js';
import type { WebsiteReceipt } from '../../src/run/receipt.js';
import { verify } from '../../src/verify/verify.js';
import { scratchFolder } from '../../src/warehouse/layout.js';
import { sync } from './client-clock.js';
import { configFor, givenSchemas } from './warehouse.js';

const MEMORY_LIMIT = 256e6;

export interface OneSync {
  baseUrl: string;
  warehouse: string;
  at: string;
  token?: string;
  api?: Record<string, unknown>;
  follow?: RunEffects['follow'];
}

/** A real sync of the website `w`, which no reject makes partial, at a time of the test's choosing. */
export async function syncOne({ baseUrl, warehouse, at, token, api = {}, follow }: OneSync): Promise<{
  receipt: WebsiteReceipt;
  /** Why which follower is behind. */
  lagging: string[];
}> {
  const sections = { api: { ...api, ...(token ? { token } : {}) }, quality: { max_reject_ratio: 1 } };
  const config = configFor({ baseUrl, warehouse, sections });
  await givenSchemas(warehouse);
  const receipt = await sync({
    config: { ...config, websites: [{ id: 'w' }] },
    version: 'test',
    log: createLogger({ level: 'silent' }),
    progress: null,
    websites: [],
    recoverOnly: false,
    signal: new AbortController().signal,
    effects: { ...sleepless(at), ...(follow ? { follow } : {}) },
  });
  const [website] = receipt.websites;
  if (!website) throw new Error('the run has no website');
  return {
    receipt: website,
    lagging: receipt.followers.flatMap(({ behind, reason }) => (behind > 0 ? [String(reason)] : [])),
  };
}

/** What `verify` finds wrong with a warehouse. */
export async function differences(warehouse: string): Promise<string[]> {
  const engine = { memoryLimit: MEMORY_LIMIT, temporary: scratchFolder(warehouse) };
  const { findings } = await verify({ warehouse, memoryLimit: MEMORY_LIMIT, engine, repair: false });
  return findings.filter(({ level }) => level !== 'note').map(({ check, message }) => `${check}: ${message}`);
}

/** Sleeping moves the clock, and gives what is under way a turn. */
function sleepless(at: string): RunEffects {
  let now = Date.parse(at);
  return {
    ...realRunEffects,
    now: () => now,
    sleep: async (ms) => {
      now += ms;
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}
