import { type NextRun, nextRun, type PlannedPage } from '../../../src/answers/plan/next-run.js';
import { configFor } from '../../given/warehouse.js';

/** Nobody listens there: whoever asks for anything fails. */
const NOBODY = 'http://127.0.0.1:9';

export interface GivenPlan {
  warehouse: string;
  at: Date;
  /** Ids; `all` if left out. */
  websites?: string[];
  sections?: Record<string, Record<string, unknown>>;
}

/** The next run at a time of the test's choosing, and every page that it wants. */
export async function plan({ warehouse, at, websites, sections = {} }: GivenPlan): Promise<{
  planned: NextRun;
  wanted: PlannedPage[];
}> {
  const config = configFor({ baseUrl: NOBODY, warehouse, sections });
  const planned = await nextRun({
    config: websites ? { ...config, websites: websites.map((id) => ({ id })) } : config,
    websites: [],
    first: 1000,
    now: at.getTime(),
  });
  return { planned, wanted: planned.websites.flatMap(({ first_pages }) => first_pages) };
}
