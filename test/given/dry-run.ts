import { type RunEffects, realRunEffects } from '../../src/sync/context.js';
import { type DryRun, dryRun } from '../../src/sync/dry-run.js';
import { given } from './synced.js';
import { configFor } from './warehouse.js';

/** Nobody listens there: whoever asks for anything fails. */
const NOBODY = 'http://127.0.0.1:9';

interface GivenDryRun {
  warehouse: string;
  at: Date;
  /** Ids; `all` if left out. */
  websites?: string[];
  sections?: Record<string, Record<string, unknown>>;
}

/** The plan of a sync at a time of the test's choosing. */
export function planAt({ warehouse, at, websites, sections = {} }: GivenDryRun): Promise<DryRun> {
  const config = configFor({ baseUrl: NOBODY, warehouse, sections });
  const named = websites ? { websites: websites.map((id) => ({ id })) } : {};
  return dryRun({
    config: { ...config, ...named },
    websites: [],
    effects: { ...realRunEffects, now: () => at.getTime() },
  });
}

/** What it plans for the websites of a configuration. */
export async function dryRunOf(file: string, effects: RunEffects = realRunEffects): Promise<DryRun['websites']> {
  return (await dryRun({ config: await given(file), websites: [], effects })).websites;
}
