import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { z } from 'zod';
import { askRows } from '../../../answers/query/ask-rows.js';
import { withReader } from '../../../answers/query/reader.js';
import { causesOf } from '../../../answers/status/status.js';
import type { Config } from '../../../base/config/schema.js';
import { allFrom, namedWebsites } from '../../../base/config/websites.js';
import { messageOf, Stopped, UsageError } from '../../../base/exit.js';
import { counted } from '../../../base/observe/format.js';
import { safe } from '../../../base/observe/terminal.js';
import { keyOf } from '../../../base/url.js';
import { propertyOf } from '../../../source/search-console/property.js';
import { type Receipt, saidIn } from '../../../sync/receipt.js';
import { websitesIn } from '../../../warehouse/log/folder/layout.js';
import { exitCodeOf } from '../../../warehouse/log/verdict.js';
import { configOf } from '../configured.js';
import { EXIT, type Globals, type Io, widthOf } from '../io.js';
import { formatJson, recordTable, warningLines } from '../output/output.js';
import { syncOnce } from './sync.js';

export interface Flags extends Globals {
  file?: string;
}

const STOPPED = 'stopped before the end; the next `indexhouse sync` commits what was inspected';
const REMEDY = 'add it under websites, or, where these are all of an account, run `indexhouse sync` first';

type Given = [where: string, text: string];

const pageRow = z.object({
  url: z.string(),
  index_status: z.string(),
  state: z.string(),
  last_crawl: z.string(),
  is_inspected: z.boolean(),
  changed: z.string().nullable(),
});

/** `indexhouse inspect`: inspects some pages now, within the day's quota, and commits what it learns. */
export async function run(flags: Flags, io: Io, urls: string[]): Promise<number> {
  const config = await configOf(flags, io);
  const given = [...urls.map((url): Given => ['inspect', url]), ...(await listed(flags.file, io.cwd))];
  const asked = askedOf(given, await propertiesOf(config));
  const receipt = await inspected(config, asked, flags, io);
  const pages = await pagesOf(receipt, asked, config);
  const problems = saidIn(receipt);
  const left = pages.filter(({ is_inspected: is }) => !is).length;
  const rows = pages.map(({ is_inspected: is, index_status: status, state, last_crawl: crawl, changed, url: page }) => {
    return { inspected: is ? 'now' : 'no', status, state, 'last crawl': crawl, changed: changed ?? '–', page };
  });
  const isSpent = receipt.websites.some(({ reports_status }) => reports_status === 'budget');
  const cause = isSpent ? ": the day's inspections are used up" : '';
  const why = left > 0 ? `\n${counted(left, 'page')} not inspected${cause}.\n` : '';
  const warnings = warningLines(causesOf(problems));
  const text = `${recordTable(rows, { width: widthOf(io.stdout) })}${why}${warnings}`;
  io.stdout.write(flags.json ? formatJson({ ...receipt, pages }) : text);
  return exitCodeOf(problems) || (left > 0 ? EXIT.warnings : EXIT.done);
}

/** A page a line; empty lines and those that begin with # count as none. */
async function listed(file: string | undefined, cwd: string): Promise<Given[]> {
  if (file === undefined) return [];
  const text = await readFile(resolve(cwd, file), 'utf8').catch((cause) => {
    throw new UsageError(`cannot read ${file}: ${messageOf(cause)}`, { cause });
  });
  const lines = text.split('\n').map((line, at): Given => [`${file}:${at + 1}`, line.trim()]);
  return lines.filter(([, line]) => line !== '' && !line.startsWith('#'));
}

/** Those that are configured; where that is all of an account, those that are in the warehouse. */
async function propertiesOf(config: Config): Promise<string[]> {
  const named = namedWebsites(config)?.filter(({ google }) => google !== null);
  if (named) return named.map(({ id }) => id);
  return allFrom(config) === 'google' ? websitesIn(config.warehouse.path) : [];
}

/** The pages to inspect, each once, by the property that they belong to. @throws UsageError for anything else */
function askedOf(given: readonly Given[], properties: readonly string[]): Map<string, string[]> {
  const asked = new Map<string, string[]>();
  for (const [where, text] of given) {
    const url = keyOf(text);
    if (url === null) throw new UsageError(`${where}: ${safe(text)} is not the address of a page`);
    const id = propertyOf(url, properties);
    if (id === undefined) throw new UsageError(`${where}: ${safe(url)} is of no configured property; ${REMEDY}`);
    asked.set(id, [...new Set([...(asked.get(id) ?? []), url])]);
  }
  if (asked.size === 0) throw new UsageError('name the pages to inspect, or a --file with one address a line');
  return asked;
}

/** A run that was interrupted is finished first. */
async function inspected(config: Config, asked: Map<string, string[]>, flags: Flags, io: Io): Promise<Receipt> {
  const run = () =>
    syncOnce(config, { ...flags, website: [...asked.keys()], asked }, io).catch((error) => {
      throw error instanceof Stopped ? new Stopped(STOPPED) : error;
    });
  const receipt = await run();
  return receipt.websites.some(({ resumed }) => resumed) ? run() : receipt;
}

async function pagesOf(receipt: Receipt, asked: ReadonlyMap<string, string[]>, { warehouse }: Config) {
  const options = { warehouse: warehouse.path, memoryLimit: warehouse.memory_limit };
  return withReader(options, async (reader) => {
    const pages: z.infer<typeof pageRow>[] = [];
    for (const { website_id: website, snapshot_id: snapshot } of receipt.websites) {
      const given = { website, snapshot: snapshot ?? '', urls: asked.get(website) ?? [] };
      pages.push(...(await askRows(reader, 'answers/query/asked_pages', pageRow, given, website)));
    }
    return pages;
  });
}
