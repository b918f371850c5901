import { setMaxListeners } from 'node:events';
import pLimit from 'p-limit';
import type { Config } from '../base/config/schema.js';
import { allFrom, apiAccess, isExcepted, namedWebsites, type Website, websiteOf } from '../base/config/websites.js';
import { Stopped } from '../base/exit.js';
import type { Logger } from '../base/observe/log.js';
import type { Progress } from '../base/observe/progress.js';
import { makeFolder } from '../base/storage/durable.js';
import { type Engine, withEngine } from '../base/storage/engine.js';
import { idProblem } from '../base/storage/names.js';
import { timeOfId } from '../base/time.js';
import { Clients, configuredWebsites, coveredSentence } from '../source/clients.js';
import { ClockError } from '../source/clock.js';
import { SourceError } from '../source/errors.js';
import { isCovered } from '../source/search-console/property.js';
import { checkOwnership, own } from '../warehouse/bucket/owner.js';
import { type JournalFolder, journalFolder } from '../warehouse/journal/folder.js';
import type { RunHeader, SetAside } from '../warehouse/journal/header.js';
import { type RunFile, stopReason, type Waiting } from '../warehouse/journal/run-file.js';
import { newestFile, scratchFolder } from '../warehouse/log/folder/layout.js';
import { checkIdentity, prepareWarehouse } from '../warehouse/log/folder/prepare.js';
import { withRunLock } from '../warehouse/log/lock.js';
import { knownWebsites } from '../warehouse/log/log.js';
import { readProven } from '../warehouse/log/proven.js';
import { keptForNextTime, recordFailure } from './commit-snapshot.js';
import {
  connection,
  deadlineOf,
  engineOptions,
  RUN_LIMITS,
  type RunContext,
  type RunEffects,
  type RunLimits,
  realRunEffects,
  type WebsiteRun,
} from './context.js';
import { countInspected } from './inspected-today.js';
import { type LongOutage, Outage } from './outage.js';
import { logProblems, type Receipt, receiptsOfUnusable, saidIn, type WebsiteReceipt } from './receipt.js';
import { recordedRun } from './recorded-run.js';
import { endedWebsites, recover } from './recover.js';
import { idAfter, RunClock } from './run-clock.js';
import { RunProgress, reportPace } from './run-progress.js';
import { JournalEngine } from './stage/journal-views.js';
import { syncWebsite } from './sync-website.js';

/** In bytes. Sorting a listing uses all the memory that it is given, without being faster. */
const LEAST_MEMORY_OF_A_RUN = 256e6;

export interface SyncOptions {
  config: Config;
  version: string;
  logger: Logger;
  progress: Progress | null;
  /** Ids of the websites to sync; all that are configured if empty. */
  websites: string[];
  /** Milliseconds that a run waits for an outage of the service or the disk to pass; not at all if left out. */
  retryFor?: number;
  /** By website, the pages of Search Console to inspect, instead of what a night would. */
  asked?: ReadonlyMap<string, readonly string[]> | undefined;
  /** Only finish an interrupted run. */
  recoverOnly: boolean;
  signal: AbortSignal;
  effects?: RunEffects;
  /** Those of `RUN_LIMITS` that differ. */
  limits?: Partial<RunLimits>;
  /** As `Outage` calls it. */
  onLongOutage?: (outage: LongOutage) => Promise<void>;
}

/**
 * One run: takes the run lock, finishes what an earlier run left, syncs each website side by side, and lets the
 * followers catch up.
 *
 * @throws BusyError, WarehouseError, OwnerError, Stopped; a website that fails is in the receipt instead
 */
export async function sync(given: SyncOptions): Promise<Receipt> {
  const config = withMemoryOfARun(given.config);
  const { path, time_zone } = config.warehouse;
  await checkIdentity(path, time_zone);
  await makeFolder(path);
  return withRunLock(path, 'sync', async () => {
    await prepareWarehouse(path, time_zone);
    return withEngine(engineOptions(config, scratchFolder(path)), (engine) =>
      recordedRun(given, (runFile) => new Sync({ ...given, config }, runFile, engine).run()),
    );
  });
}

/** Gives DuckDB a quarter of the memory that readers have, to leave room for whatever else the machine does. */
function withMemoryOfARun(config: Config): Config {
  const { memory_limit: limit } = config.warehouse;
  const memory_limit = Math.min(limit, Math.max(LEAST_MEMORY_OF_A_RUN, limit / 4));
  return { ...config, warehouse: { ...config.warehouse, memory_limit } };
}

/** An outage of no website in particular. */
const OF_NONE = { id: '', name: null };

interface Begun {
  runId: string | null;
  runs: WebsiteRun[];
  receipts: WebsiteReceipt[];
  /** Why no website is known: neither the configuration, the service nor the warehouse names one. */
  unlisted?: string;
}

class Sync {
  readonly #context: Omit<RunContext, 'runId'>;
  readonly #clients: Clients;

  constructor(
    private readonly options: SyncOptions,
    private readonly runFile: RunFile,
    engine: Engine,
  ) {
    const { config, logger, signal, effects = realRunEffects, retryFor = 0, onLongOutage } = options;
    // Each request in flight listens for the stop.
    setMaxListeners(0, signal);
    const progress = new RunProgress(options.progress);
    const onWaiting = (waiting: Waiting | null) => {
      if (waiting) progress.waiting(waiting);
      void runFile.waits(waiting);
    };
    const outage = new Outage({ retryFor, onLongOutage, effects, logger, onWaiting, signal });
    const clock = new RunClock({ effects, logger });
    const limits = { ...RUN_LIMITS, ...options.limits };
    const shared = { config, logger, engine, progress, effects, outage, clock, signal, limits };
    this.#context = { ...shared, warehouse: config.warehouse.path, oneAtATime: pLimit(1) };
    this.#clients = new Clients(config, {
      version: options.version,
      effects,
      signal,
      onAnswer: ({ status }, baseUrl) => {
        if (status >= 500 || status === 429) return;
        outage.over('service', { ...OF_NONE, baseUrl });
        if (!outage.isOn) void runFile.waits(null);
      },
      onNotice: (notice, key) => reportPace({ logger, onWaiting }, notice, { key, now: effects.now() }),
    });
  }

  async run(): Promise<Receipt> {
    const { config, logger, engine, progress, effects } = this.#context;
    try {
      await checkOwnership(this.#context, own);
      const { runId, runs, receipts, unlisted } = await this.#begin();
      if (runs.some(({ source }) => source.byInspection)) {
        const folders = runs.map(({ folder }) => folder);
        await countInspected(this.#context, folders, this.#clients.day);
      }
      const ended = await Promise.allSettled(runs.map((run) => this.#syncOne(run)));
      for (const website of ended) {
        if (website.status === 'rejected') throw website.reason;
        receipts.push(website.value);
      }
      progress.note('catching up');
      const followers = await effects.follow({ config, logger, engine, proveAt: effects.now() });
      const { damaged } = await readProven(config.warehouse.path);
      const { warning } = this.#context.clock;
      const doubtful = { ...(warning === null ? {} : { clock: warning }), ...(unlisted ? { error: unlisted } : {}) };
      const proven = damaged.length > 0 ? { damaged } : {};
      const receipt = { run_id: runId, websites: receipts, followers, ...doubtful, ...proven };
      logProblems(logger, saidIn(receipt));
      return receipt;
    } finally {
      progress.finish();
      await this.#context.outage.reported;
      await this.#clients.close();
    }
  }

  /** Recovers, and opens the journals of the run that is resumed, or of a new one. */
  async #begin(): Promise<Begun> {
    const { unfinished, runId, receipts, older, setAside } = await recover(
      { ...this.#context, runId: '' },
      {
        openRun: (folder, header) => this.#open(this.#named(folder.websiteId, header.website_name), folder, header),
        newHeader: (folder) => this.#headerFor(folder),
        whyStopped: (folder, lastActivity) => stopReason(this.runFile.before, { ...folder, lastActivity }),
        isConfigured: (id) => namedWebsites(this.options.config)?.some((website) => website.id === id) ?? true,
      },
    );
    const runs = unfinished.map(({ folder, header }) => this.#resume(folder, header));
    if (this.options.recoverOnly) return { runId, runs, receipts: [...older, ...receipts] };
    // The receipt does not have them.
    const { logger } = this.#context;
    logProblems(logger, saidIn({ run_id: runId, websites: older, followers: [] }));
    if (runId) logger.info({ run: runId }, 'resuming an interrupted run');
    const taken = [...receipts.map(({ website_id }) => website_id), ...runs.map(({ website }) => website.id)];
    const { websites: selected, unlisted } = await this.#selected();
    const websites = selected.filter(({ id }) => idProblem(id) === null);
    receipts.push(...receiptsOfUnusable(selected));
    const ids = websites.map((website) => website.id);
    const id = runId ?? idAfter(await newestId(this.#context.warehouse, ids));
    // No website of a new run has ended.
    const ended = runId === null ? [] : await endedWebsites(this.#context.warehouse, runId, ids);
    const rest = websites.filter((website) => ![...taken, ...ended].includes(website.id));
    const started = rest.map((website) => this.#start(website, id, setAside.get(website.id)));
    if (!unlisted) return { runId: id, runs: [...runs, ...started], receipts };
    logger.error(`cannot list the websites of the key: ${unlisted.message}`);
    // Every website of the warehouse loses a night, which should be visible there.
    for (const run of started) {
      receipts.push(await recordFailure(run, unlisted.message).catch((error) => keptForNextTime(run, error)));
    }
    return receipts.length + runs.length > 0
      ? { runId: id, runs, receipts }
      : { runId: id, runs, receipts, unlisted: unlisted.message };
  }

  /** The websites to sync; if the service does not list them, those of the warehouse, with the error. */
  async #selected(): Promise<{ websites: Website[]; unlisted?: SourceError }> {
    const { websites: asked, config } = this.options;
    // One that the service does not list is tried as well, so that the refusal is reported.
    const chosen = (there: Website[]) =>
      asked.length === 0 ? there : asked.map((id) => there.find((one) => one.id === id) ?? websiteOf(config, id));
    const { outage, effects } = this.#context;
    const limits = { deadline: effects.now() + config.reports.deadline, whose: { ...OF_NONE, ...apiAccess(config) } };
    try {
      const named = await outage.during(limits, () => configuredWebsites(config, this.#clients));
      const covered = await coveredSentence(config, this.#clients);
      if (covered !== null) this.#context.logger.info(covered);
      return { websites: chosen([...named, ...(await this.#lost(named))]) };
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      return { websites: chosen(await this.#known()), unlisted: error };
    }
  }

  /** Properties of the warehouse that the account may read no more. They are tried, so that the refusal is reported. */
  async #lost(named: readonly Website[]): Promise<Website[]> {
    const { config } = this.options;
    if (allFrom(config) !== 'google') return [];
    const readable = named.map(({ id }) => id);
    return (await this.#known()).filter(({ id }) => !isCovered(id, readable));
  }

  async #known(): Promise<Website[]> {
    const { warehouse, config } = this.#context;
    const all = await knownWebsites(warehouse, config.warehouse.memory_limit);
    // `knownWebsites` lists a website once for each of its snapshots or names, the newest last.
    const names = new Map(all.map(({ id, name }) => [id, name]));
    return [...names].filter(([id]) => !isExcepted(config, id)).map(([id, name]) => this.#named(id, name));
  }

  /** @param setAside a damaged journal of an older run of the website, which this run reports */
  #start(website: Website, runId: string, setAside: SetAside | undefined): WebsiteRun {
    const folder = journalFolder(this.#context.warehouse, runId, website.id);
    const header = this.#newHeader(folder, website.name, this.#context.effects.now());
    const asked = this.options.asked?.get(website.id);
    const more = { ...(setAside ? { set_aside: setAside } : {}), ...(asked ? { asked: true } : {}) };
    return { ...this.#open(website, folder, { ...header, ...more }), asked };
  }

  /** A header for a run whose own is lost. The id says when the run began. */
  #headerFor(folder: JournalFolder): RunHeader {
    const { name } = websiteOf(this.options.config, folder.websiteId);
    return this.#newHeader(folder, name, Math.min(timeOfId(folder.runId), this.#context.effects.now()));
  }

  #newHeader({ runId, websiteId }: JournalFolder, name: string | null, startedAt: number): RunHeader {
    return {
      run_id: runId,
      website_id: websiteId,
      website_name: name,
      snapshot_id: idAfter(runId),
      started_at: new Date(startedAt).toISOString(),
      version: this.options.version,
      resumed: 0,
    };
  }

  #resume(folder: JournalFolder, header: RunHeader): WebsiteRun {
    const resumed = { ...header, resumed: header.resumed + 1 };
    return this.#open(this.#named(folder.websiteId, header.website_name), folder, resumed);
  }

  #open(website: Website, folder: JournalFolder, header: RunHeader): WebsiteRun {
    const requests = { sent: 0, throttled: 0, retried: 0 };
    const source = this.#clients.sourceOf(website);
    const { oneAtATime } = this.#context;
    const journal = new JournalEngine(folder, connection(this.#context, folder.temporary), oneAtATime);
    return { ...this.#context, runId: header.run_id, website, folder, header, journal, source, requests };
  }

  /** A website as it is configured now. @param name what it was called before */
  #named(id: string, name: string | null): Website {
    const website = websiteOf(this.options.config, id);
    return { ...website, name: website.name ?? name };
  }

  async #syncOne(begun: WebsiteRun): Promise<WebsiteReceipt> {
    let run = begun;
    const resume = () => {
      run = this.#resume(run.folder, run.header);
    };
    const limits = { deadline: deadlineOf(begun), whose: begun.website };
    try {
      const receipt = await this.#context.outage.during(limits, () => syncWebsite(run), resume);
      run.logger.info(logLineOf(receipt), 'committed');
      return receipt;
    } catch (error) {
      if (error instanceof Stopped) throw error;
      if (error instanceof SourceError) {
        run.logger.info({ website: run.website.id }, `no snapshot: ${error.message}`);
        // If not even the row of `runs` can be written, the journal stays for the next sync.
        const kept = (other: unknown) => keptForNextTime(run, other instanceof ClockError ? other : error);
        return await recordFailure(run, error.message).catch(kept);
      }
      return keptForNextTime(run, error);
    }
  }
}

/** The log line of a commit: what it holds and what it cost. */
function logLineOf({ website_id, pages, reports, requests, utilisation }: WebsiteReceipt) {
  return {
    website: website_id,
    pages: pages.listed,
    reports: reports.fetched,
    reports_by_reason: reports.by_reason,
    reports_left: reports.left,
    requests: requests.sent,
    throttled: requests.throttled,
    retried: requests.retried,
    utilisation,
  };
}

/** The newest id of the runs and snapshots of these websites: the ids of all later ones come after it. */
async function newestId(warehouse: string, websiteIds: readonly string[]): Promise<string | undefined> {
  const tables = ['runs', 'snapshots'] as const;
  const files = websiteIds.flatMap((id) => tables.map((table) => newestFile(warehouse, table, id)));
  const ids = (await Promise.all(files)).filter((id) => id !== null);
  return ids.sort().at(-1);
}
