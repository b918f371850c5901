import { nextRun } from '../../../answers/plan/next-run.js';
import { ConfigError } from '../../../base/config/errors.js';
import type { Config } from '../../../base/config/schema.js';
import { chosenWebsites } from '../../../sync/choose-websites.js';
import { configuredTime, realRunEffects } from '../../../sync/context.js';
import type { Globals } from '../command.js';
import { configOf, rebuiltLog } from '../configured.js';
import { EXIT, type Io, widthOf } from '../io.js';
import { formatJson } from '../output/output.js';
import { planText } from '../output/plan-text.js';

const FIRST_PAGES = 10;

/** The flags that say which run it is. */
export interface RunFlags extends Globals {
  website?: string[];
  maxReports?: number;
  deadline?: string;
}

/** `indexhouse plan`: what the next run costs and reaches, without a request. */
export async function run(flags: RunFlags, io: Io): Promise<number> {
  const { website = [], json } = flags;
  const config = await configFor(flags, io);
  const planned = await nextRun({
    config,
    websites: await chosenWebsites(website, config, null),
    first: FIRST_PAGES,
    now: (await configuredTime(config, realRunEffects)).now(),
    onRebuilt: rebuiltLog(flags, io),
  });
  io.stdout.write(json ? formatJson(planned) : planText(planned, config, widthOf(io.stdout)));
  return EXIT.done;
}

/** Nothing is requested, so no token is needed: if one cannot be read, all websites are assumed to share a key. */
async function configFor(flags: RunFlags, io: Io): Promise<Config> {
  const overrides = { reports: { max_per_run: flags.maxReports, deadline: flags.deadline } };
  try {
    return await configOf(flags, io, { overrides });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return configOf(flags, io, { overrides, withoutTokens: true });
  }
}
