import type { Config } from '../config/schema.js';
import { unfinishedJournals } from '../journal/folder.js';
import { type Effects, realEffects } from '../source/effects.js';
import type { ListingSize, ServiceQuestion } from './ask-service.js';
import { type Forecast, type Planned, writtenForecast } from './forecast-document.js';
import { forecastKey, type KeyForecast } from './key-forecast.js';
import { Known, type WantedPage } from './known.js';
import { type Outlook, outlookOf } from './outlook.js';
import { nextTime } from './schedule.js';
import { type SelectedWebsite, selectWebsites } from './selection.js';

const DAY_MS = 86_400_000;
const YOUNG_MS = 30 * DAY_MS;

export interface ForecastEffects extends Effects {
  /** When a cron expression comes next in a time zone. */
  nextTime(cron: string, timeZone: string): Date | null;
}

const realForecastEffects: ForecastEffects = { ...realEffects, nextTime };

export interface ForecastInput {
  config: Config;
  /** Ids; all that are configured if empty. */
  websites: readonly string[];
  /** Whom to ask for the number of its pages: each website, those without a snapshot, or none. */
  ask: 'always' | 'unknown' | 'never';
  /** Milliseconds; left out: 30 days, or `refresh_after` where that is longer. */
  youngerThan?: number | undefined;
  /** How many of the pages that come first to name, for each website. */
  first: number;
  /** Whether the scheduled job would do the same: false where a flag overrides the configuration. */
  asScheduled: boolean;
  signal: AbortSignal;
  /** Told how many websites the service is asked about, which takes its time at the key's pace. */
  onAsk?: ((websites: number) => void) | undefined;
  /** Takes every page that is known to be wanted, website by website, in the plan's order. */
  writeWanted?: ((pages: AsyncIterable<WantedOf>) => Promise<void>) | undefined;
  effects?: ForecastEffects;
}

/** A page that is wanted, and whether tonight's run reaches it. */
export interface WantedOf extends WantedPage {
  website_id: string;
  reached: boolean;
}

/**
 * Tells what the next run costs, when it ends and which pages it does not reach. Reads the warehouse and writes nothing
 * into it; asks the service for nothing but the number of pages, and only where that is allowed and not known.
 *
 * @throws AskError, WarehouseError
 */
export async function forecast(input: ForecastInput): Promise<Forecast> {
  const { config, effects = realForecastEffects } = input;
  const now = effects.now();
  const known = await Known.open(config, now);
  try {
    const { selected, sizes, requests } = await askWhereNeeded(input, known, effects);
    await known.read(selected.map(({ id }) => id));
    const outlooks: (Outlook | null)[] = [];
    for (const website of selected) {
      outlooks.push(await outlookOf(website, { known, asked: sizes.get(website.id) ?? null, api: config.api }));
    }
    const youngDays = Math.ceil((input.youngerThan ?? Math.max(YOUNG_MS, config.reports.refresh_after)) / DAY_MS);
    const keys = byKey(outlooks).map(([key, websites]) => forecastKey(key, websites, { config, youngDays }));
    const planned: Planned = {
      config,
      now,
      youngDays,
      keys,
      requests,
      unknown: selected.filter((_, at) => outlooks[at] === null),
      unfinished: (await unfinishedJournals(config.warehouse.path)).length > 0,
      next: nextSync(config, effects),
      asScheduled: input.asScheduled,
      first: input.first,
    };
    await input.writeWanted?.(wantedOf(keys, known));
    return await writtenForecast(planned, (websiteId, from, to) => known.wantedPages(websiteId, from, to));
  } finally {
    await known.close();
  }
}

interface Asked {
  selected: SelectedWebsite[];
  sizes: ReadonlyMap<string, ListingSize>;
  /** What was asked of the service. */
  requests: number;
}

async function askWhereNeeded(input: ForecastInput, known: Known, effects: Effects): Promise<Asked> {
  const { config, ask, websites } = input;
  const selected = selectWebsites(config, websites, known.websiteIds);
  const mustList = config.websites === 'all' && websites.length === 0 && (ask === 'always' || selected.length === 0);
  const mustAsk = (all: SelectedWebsite[]) =>
    ask === 'always' ? all : all.filter(({ id }) => known.lastRun(id) === null);
  if (ask === 'never' || (!mustList && mustAsk(selected).length === 0)) {
    return { selected, sizes: new Map(), requests: 0 };
  }
  // The HTTP client is loaded for those who ask only.
  const { ServiceQuestion } = await import('./ask-service.js');
  const question = new ServiceQuestion(config, effects, input.signal);
  try {
    const all = mustList ? await question.websites() : selected;
    input.onAsk?.(mustAsk(all).length);
    const sizes = await sizesOf(mustAsk(all), question);
    return { selected: all, sizes, requests: question.requests };
  } catch (error) {
    throw known.websiteIds.length > 0 ? withOffline(error) : error;
  } finally {
    await question.close();
  }
}

async function sizesOf(
  websites: readonly SelectedWebsite[],
  question: ServiceQuestion,
): Promise<Map<string, ListingSize>> {
  const sizes = await Promise.all(websites.map((website) => question.listingSize(website)));
  return new Map(websites.flatMap(({ id }, at) => (sizes[at] ? [[id, sizes[at]] as const] : [])));
}

function withOffline(error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== 'AskError') return error;
  const message = `${error.message}. Or plan from the newest snapshots: indexhouse plan --offline`;
  return Object.assign(new Error(message, { cause: error }), { name: 'AskError' });
}

function byKey(outlooks: readonly (Outlook | null)[]): [key: string, outlooks: Outlook[]][] {
  const keys = new Map<string, Outlook[]>();
  for (const outlook of outlooks) {
    if (outlook) keys.set(outlook.website.key, [...(keys.get(outlook.website.key) ?? []), outlook]);
  }
  return [...keys];
}

/** Null where the job is switched off. */
function nextSync({ schedule }: Config, effects: ForecastEffects): Date | null {
  const cron = schedule['nightly-sync'];
  return cron === false ? null : effects.nextTime(cron, schedule.time_zone);
}

async function* wantedOf(keys: readonly KeyForecast[], known: Known): AsyncGenerator<WantedOf> {
  for (const { outlook, cut } of keys.flatMap(({ websites }) => websites)) {
    const { id } = outlook.website;
    if (outlook.lastRun === null) continue;
    for await (const page of known.allWanted(id)) {
      yield { website_id: id, ...page, reached: page.place <= cut.knownReached };
    }
  }
}
