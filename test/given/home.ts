import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Simulation } from '../../src/app/demo/simulator/simulation.js';
import type { Logger } from '../../src/base/observe/log.js';
import { type RunEffects, realRunEffects } from '../../src/sync/context.js';
import type { Receipt, WebsiteReceipt } from '../../src/sync/receipt.js';
import { journalFolder } from '../../src/warehouse/journal/folder.js';
import type { Finding, Verified } from '../../src/warehouse/upkeep/verify/finding.js';
import { reportCounts } from './client-clock.js';
import { type GivenConfig, writeConfig } from './config-file.js';
import { type StopAfter, syncNow } from './synced.js';
import { findingsOf, verified } from './verified.js';
import { givenSchemas, noFollowers } from './warehouse.js';

type Websites = NonNullable<GivenConfig['websites']>;

export interface HomeSync {
  /** How much later than now it is. */
  laterMs?: number;
  stopAfter?: StopAfter;
  recoverOnly?: boolean;
  /** Another clock, in milliseconds since 1970. */
  clock?: () => number;
  /** Silent if left out. */
  logger?: Logger;
  /** Whether `indexhouse.duckdb` follows (default); what only the Parquet files are asked for is quicker without. */
  follow?: boolean;
}

/** A configuration and its warehouse in a folder of their own, synced in this process. */
export class Home {
  readonly warehouse: string;
  config: string;

  constructor(
    readonly folder: string,
    readonly simulator: Simulation & { url: string },
    readonly websites: Websites,
    readonly sections: Record<string, Record<string, unknown>> = {},
    readonly effects: RunEffects = realRunEffects,
  ) {
    this.warehouse = join(folder, 'warehouse');
    this.config = this.configure(websites);
  }

  /** Writes the configuration again, for other websites. */
  configure(websites: Websites): string {
    const api = { concurrency: 4, ...this.sections['api'] };
    // Each night asks for every report again, unless a test says otherwise.
    const reports = { refresh_after: '0d', ...this.sections['reports'] };
    this.config = writeConfig(this.folder, {
      baseUrl: this.simulator.url,
      websites,
      sections: { ...this.sections, api, reports },
    });
    return this.config;
  }

  /** The same in another folder. */
  copyTo(folder: string): Home {
    cpSync(this.folder, folder, { recursive: true });
    return this.at(folder);
  }

  /** Another folder of it, which is there already. */
  at(folder: string): Home {
    return new Home(folder, this.simulator, this.websites, this.sections, this.effects);
  }

  async sync({
    laterMs = 0,
    stopAfter,
    recoverOnly = false,
    clock,
    follow = true,
    logger,
  }: HomeSync = {}): Promise<Receipt> {
    await givenSchemas(this.warehouse, follow);
    return syncNow(this.config, {
      stopAfter,
      recoverOnly,
      ...(logger ? { logger } : {}),
      effects: {
        ...this.effects,
        now: clock ?? (() => this.effects.now() + laterMs),
        ...(follow ? {} : { follow: noFollowers }),
      },
    });
  }

  /** The same, for a home of one website. */
  async syncOne(options: HomeSync = {}): Promise<WebsiteReceipt> {
    const { websites } = await this.sync(options);
    const [website] = websites;
    if (!website || websites.length > 1) throw new Error(`${websites.length} websites in the receipt`);
    return website;
  }

  verify(repair = false): Promise<Verified> {
    return verified(this.warehouse, repair);
  }

  /** What `verify` finds but for notes. */
  wrong(): Promise<Finding[]> {
    return findingsOf(this.warehouse);
  }

  /** The folder of the only unfinished run of a website. */
  journal(website: string): string {
    const runs = this.unfinished();
    if (runs.length !== 1) throw new Error(`${runs.length} unfinished runs`);
    return journalFolder(this.warehouse, `${runs[0]}`, website).path;
  }

  unfinished(): string[] {
    return readdirSync(join(this.warehouse, 'runs')).filter((name) => name !== 'damaged');
  }

  /** URLs of the reports that a website's journal holds. */
  journaled(website: string): string[] {
    const file = join(this.journal(website), 'reports.ndjson');
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
    const answers = lines.filter((line) => /^\{"kind":"(?!done")/.test(line));
    return answers.map((line) => String(JSON.parse(line).url));
  }

  /** URLs whose report the service was asked for. */
  asked(): string[] {
    return [...reportCounts(this.simulator).keys()];
  }
}
