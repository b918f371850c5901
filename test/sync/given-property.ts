import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import {
  type SearchConsole,
  type SearchConsoleOptions,
  startSearchConsole,
} from '../../src/app/demo/search-console/search-console.js';
import { DAY_MS } from '../../src/base/time.js';
import { type RunEffects, realRunEffects } from '../../src/sync/context.js';
import type { WebsiteReceipt } from '../../src/sync/receipt.js';
import { journalFolder } from '../../src/warehouse/journal/folder.js';
import { writeConfig } from '../given/config-file.js';
import { temporaryFolder } from '../given/folder.js';
import { type StopAfter, syncNow } from '../given/synced.js';
import { givenSchemas, noFollowers } from '../given/warehouse.js';

export const PROPERTY = 'sc-domain:example.com';
const FIRST_NIGHT_MS = Date.parse('2026-01-01T10:00:00.000Z');

type OnFinished = (clean: () => void | Promise<void>) => void;
interface Given extends SearchConsoleOptions {
  pages?: number;
  /** Keys of the website's entry in the configuration. */
  entry?: object;
}

/** A simulated property on loopback that a configuration names. Its nights are a day apart, for those who sync it, too. */
export async function givenProperty(onFinished: OnFinished, { pages = 120, entry = {}, ...options }: Given = {}) {
  const began = Date.now();
  let passed = 0;
  const now = () => FIRST_NIGHT_MS + passed + (Date.now() - began);
  const service = await startSearchConsole({
    start: new Date(FIRST_NIGHT_MS).toISOString(),
    websites: [{ id: 'w', pages }],
    inspectionsPerMinute: 1e6,
    clock: now,
    ...options,
  });
  onFinished(() => service.close());
  const google = {
    credentials: await service.credentials(),
    endpoint: service.url,
    requests_per_minute: 100_000,
    concurrency: 8,
  };
  // Nobody waits for a minute to pass.
  const sleep = async (ms: number) => {
    const until = now() + ms;
    await setImmediate();
    passed += Math.max(0, until - now());
  };
  const pass = (days: number) => {
    passed += days * DAY_MS;
    service.advance(days);
  };
  const websites = [{ id: PROPERTY, source: 'google', ...entry }];
  const given = {
    service,
    effects: { ...realRunEffects, now, sleep, follow: noFollowers },
    pass,
    websites,
    sections: { google },
  };
  return new GivenProperty(temporaryFolder(onFinished), given);
}

export class GivenProperty {
  readonly warehouse: string;
  readonly config: string;

  constructor(
    readonly folder: string,
    private readonly given: {
      service: SearchConsole;
      effects: RunEffects;
      pass(days: number): void;
      websites: { id: string; [key: string]: string }[];
      sections: Record<string, object>;
    },
  ) {
    this.warehouse = join(folder, 'warehouse');
    const { service, websites, sections } = given;
    this.config = writeConfig(folder, { baseUrl: service.url, websites, sections });
  }

  get service(): SearchConsole {
    return this.given.service;
  }

  pass(days = 1): void {
    this.given.pass(days);
  }

  copyTo(folder: string): GivenProperty {
    cpSync(this.folder, folder, { recursive: true });
    return this.at(folder);
  }

  /** Another folder of it. */
  at(folder: string): GivenProperty {
    return new GivenProperty(folder, this.given);
  }

  /** With another website in the same configuration. */
  beside(website: { id: string; [key: string]: string }): GivenProperty {
    return new GivenProperty(this.folder, { ...this.given, websites: [...this.given.websites, website] });
  }

  get now(): () => number {
    return this.given.effects.now;
  }

  /** What the only unfinished run has inspected. */
  journaled(): string[] {
    const [run = ''] = readdirSync(join(this.warehouse, 'runs')).filter((name) => name !== 'damaged');
    const { reports } = journalFolder(this.warehouse, run, PROPERTY);
    const lines = existsSync(reports) ? readFileSync(reports, 'utf8').split('\n') : [];
    return lines.flatMap((line) => (line.startsWith('{"kind":"fetched"') ? String(JSON.parse(line).url) : []));
  }

  async sync(stopAfter: StopAfter = {}): Promise<WebsiteReceipt> {
    const [receipt] = await this.syncAll(stopAfter);
    if (!receipt) throw new Error('no website in the receipt');
    return receipt;
  }

  async syncAll(stopAfter: StopAfter = {}, asked?: ReadonlyMap<string, string[]>): Promise<WebsiteReceipt[]> {
    await givenSchemas(this.warehouse);
    return (await syncNow(this.config, { stopAfter, asked, effects: this.given.effects })).websites;
  }
}
