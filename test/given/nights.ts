import type { Logger } from '../../src/base/observe/log.js';
import { type RunEffects, realRunEffects } from '../../src/sync/context.js';
import type { WebsiteReceipt } from '../../src/sync/receipt.js';
import { stateFile } from '../../src/warehouse/log/folder/layout.js';
import type { Table } from '../../src/warehouse/log/folder/tables.js';
import { atEnd, copyOf, type OnFinished, temporaryFolder } from './folder.js';
import { type Row, readParquet, readTable } from './parquet.js';
import { type Answer, keyTo, type ScriptedWebsite, startService } from './service.js';
import { Clock, noFollowers, syncWebsite } from './warehouse.js';

const WEBSITE = 'w';
const FIRST_NIGHT_MS = Date.parse('2025-03-01T02:00:00.000Z');
const DAY_MS = 86_400_000;

/** What the service answers for one page's report: fields beside its URL, or a status. */
export type Report = object | number;

export interface Night {
  /** The listing's entries by the page's name, in this order: fields beside the URL. */
  list: Record<string, object>;
  /** The listing breaks off behind these entries. */
  partial?: boolean;
  /** Fields of the listing's pagination object, and of the body around it, to lay over the ones made here. */
  pagination?: object;
  body?: object;
  /** Pages that are not named answer 200 with nothing but their URL where they are listed, and 404 elsewhere. */
  reports?: Record<string, Report> | ((name: string) => Report | undefined);
  /** What the service answers about the key itself; by default it accepts it. */
  key?: Answer;
  logger?: Logger;
  /** Sections of the configuration. */
  sections?: Record<string, Record<string, unknown>>;
  /** Called before each report is answered; may move the clock. */
  onReport?: (number: number, clock: Clock) => void;
}

export interface NightEnd {
  receipt: WebsiteReceipt;
  exitCode: number;
  /** Names of the pages whose report was asked for, in the order of the requests. */
  asked: string[];
  /** Such as `a deindexed: Indexed → Not Indexed (since night 1)`, sorted. */
  changes: string[];
  /** The row of `page_state` by the page's name. */
  state: Map<string, Row>;
}

/** Nights in a folder of their own. Only the Parquet files are written, unless the test is about what follows them. */
export async function givenNights(onFinished: OnFinished = atEnd, followed: 'followed' | null = null): Promise<Nights> {
  const nights = new Nights(`${temporaryFolder(onFinished)}/warehouse`, followed ? realRunEffects.follow : noFollowers);
  await nights.start(onFinished);
  return nights;
}

/** One website whose every night the test writes, and the warehouse that real syncs make of it. */
export class Nights {
  readonly clock = new Clock(FIRST_NIGHT_MS);
  readonly #snapshots: string[] = [];
  #night: Night = { list: {} };
  #asked: string[] = [];
  #url = '';

  constructor(
    readonly warehouse: string,
    private readonly follow: RunEffects['follow'],
  ) {}

  async start(onFinished: OnFinished): Promise<void> {
    const listing: ScriptedWebsite['listing'] = (window) => this.#window(window);
    const website = { listing, report: (url: string) => this.#report(nameOf(url)) };
    const key = { listing: () => this.#night.key ?? { body: JSON.stringify(keyTo([WEBSITE])) } };
    this.#url = (await startService({ [WEBSITE]: website, v1: key }, onFinished)).url;
  }

  /** The same nights in another folder, to go on from. */
  async copy(onFinished: OnFinished = atEnd): Promise<Nights> {
    const copy = new Nights(copyOf(this.warehouse, onFinished), this.follow);
    copy.#snapshots.push(...this.#snapshots);
    await copy.start(onFinished);
    return copy;
  }

  /** The next night: what the service knows then, and a sync. */
  async night(night: Night): Promise<NightEnd> {
    this.#night = night;
    this.#asked = [];
    this.clock.now = FIRST_NIGHT_MS + this.#snapshots.length * DAY_MS;
    const { warehouse, follow, clock: at } = this;
    const { sections = {}, logger } = night;
    const { receipt, exitCode } = await syncWebsite({ baseUrl: this.#url, warehouse, at, sections, follow, logger });
    const { snapshot_id: id, error } = receipt;
    if (!id) throw new Error(`night ${this.#snapshots.length + 1} failed: ${error}`);
    this.#snapshots.push(id);
    return { receipt, exitCode, asked: this.#asked, changes: await this.#changes(id), state: await this.#state(id) };
  }

  /** When a night began. */
  at(night: number): Date {
    return new Date(FIRST_NIGHT_MS + (night - 1) * DAY_MS);
  }

  snapshot(night: number): string {
    return this.#snapshots[night - 1] ?? '';
  }

  /** The rows that the newest night has of a table. */
  async rows(table: Table): Promise<Row[]> {
    const newest = this.#snapshots.at(-1);
    return (await readTable(this.warehouse, table)).filter((row) => row['snapshot_id'] === newest);
  }

  #window({ skip }: { skip: number }): Answer {
    const { list, partial = false, pagination, body } = this.#night;
    // No error that is worth another try, nor one that ends the listing for good.
    if (partial && skip > 0) return { status: 418 };
    const urls = Object.entries(list).map(([name, entry]) => ({ url: urlOf(name), ...entry }));
    const count = urls.length + (partial ? 5 : 0);
    const honest = { next_page: partial ? '/v1/urls/w?skip=9' : null, end: !partial, count, skip };
    const window = { urls: urls.slice(skip), pagination: { ...honest, ...pagination } };
    return { body: JSON.stringify({ ...window, ...body }) };
  }

  #report(name: string): Answer {
    const { reports = {}, list, onReport } = this.#night;
    this.#asked.push(name);
    onReport?.(this.#asked.length, this.clock);
    const given = typeof reports === 'function' ? reports(name) : reports[name];
    const answer = given ?? (Object.hasOwn(list, name) ? {} : 404);
    if (typeof answer === 'number') return { status: answer };
    return { body: JSON.stringify({ url: urlOf(name), ...answer }) };
  }

  async #changes(snapshotId: string): Promise<string[]> {
    const rows = await readTable(this.warehouse, 'page_changes');
    const own = rows.filter((row) => row['to_snapshot_id'] === snapshotId);
    return own.map((row) => this.#changeText(row)).sort();
  }

  #changeText(row: Row): string {
    const since = this.#snapshots.indexOf(String(row['from_snapshot_id'])) + 1;
    const what = `${nameOf(String(row['url']))} ${row['change']}`;
    return `${what}: ${row['from_value'] ?? '–'} → ${row['to_value'] ?? '–'} (since ${since > 0 ? `night ${since}` : 'never'})`;
  }

  async #state(snapshotId: string): Promise<Map<string, Row>> {
    const rows = await readParquet(stateFile(this.warehouse, WEBSITE, snapshotId));
    return new Map(rows.map((row) => [nameOf(String(row['url'])), row]));
  }
}

export function urlOf(name: string): string {
  return `https://${WEBSITE}.example/${name}`;
}

function nameOf(url: string): string {
  return url.slice(urlOf('').length);
}
