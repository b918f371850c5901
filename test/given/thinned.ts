import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { z } from 'zod';
import { withReader } from '../../src/answers/query/reader.js';
import { createLogger } from '../../src/base/observe/log.js';
import { followersOf } from '../../src/warehouse/copies/follow.js';
import type { MaintainReceipt } from '../../src/warehouse/removal/maintain.js';
import { maintain } from '../../src/warehouse/removal/maintain.js';
import type { GivenPage } from './service.js';
import { type BuiltWarehouse, buildWarehouse, configFor, type Sections } from './warehouse.js';

/** Shortly after the last of the nights. */
export const NOW = Date.parse('2025-03-20T12:00:00Z');
export const HOUR_MS = 3_600_000;
const SECTIONS = { reports: { refresh_after: '3000d' } };

export const at = (website: string, name: string) => `https://${website}.example/${name}`;
const page = (website: string, name: string, state = 'Submitted and indexed'): GivenPage => ({
  url: at(website, name),
  entry: { index_summary: 'Indexed', index_coverage_state: state },
});
/** An entry that the contract refuses: in so short a listing, it makes it partial. */
const broken: GivenPage = { url: at('blog', 'broken'), entry: JSON.parse('{"index_summary": 5}') };

/** The date of a night: the 1st and 2nd are in December 2024, up to the 9th in January, to the 16th in February, later in March. */
function dateOf(day: number): string {
  const month = ['2024-12', '2025-01', '2025-02', '2025-03'][[2, 9, 16].filter((last) => day > last).length];
  return `${month}-${String(day).padStart(2, '0')}`;
}

/**
 * Nights of four months, by their days.
 *
 * - shop: `a` changes each night, so each has a new report of it; `e` only on the 3rd; `f` is gone after the 5th.
 * - blog: its newest complete listing is of the 3rd; after it `r` was listed on the 5th only.
 */
export async function buildNights(
  days = [1, 2, 3, 5, 9, 11, 16, 18],
  { withBlog = true, followed = null }: { withBlog?: boolean; followed?: 'followed' | null } = {},
): Promise<BuiltWarehouse> {
  const shop = (day: number): GivenPage[] => [
    page('shop', 'a', `as of the ${day}`),
    page('shop', 'b'),
    page('shop', 'e', day < 3 ? 'before' : 'since the 3rd'),
    ...(day <= 5 ? [page('shop', 'f')] : []),
  ];
  const blog: Record<number, GivenPage[]> = {
    1: [page('blog', 'p'), page('blog', 'q')],
    3: [page('blog', 'p'), page('blog', 'q')],
    5: [page('blog', 'p'), page('blog', 'r'), broken],
    9: [page('blog', 'p'), broken],
    18: [page('blog', 'p'), broken],
  };
  return buildWarehouse(
    days.map((day) => ({
      at: `${dateOf(day)}T02:00:00Z`,
      lists: { shop: shop(day), ...(withBlog && blog[day] ? { blog: blog[day] } : {}) },
      sections: SECTIONS,
    })),
    followed,
  );
}

export function maintainAt(
  warehouse: string,
  options: {
    retention?: string;
    now?: number;
    dryRun?: boolean;
    sections?: Sections;
  } = {},
): Promise<MaintainReceipt> {
  const { retention = '3d', now = NOW, dryRun = false } = options;
  const sections = { ...options.sections, retention };
  const config = configFor({ baseUrl: 'http://127.0.0.1:1', warehouse, sections });
  const followers = followersOf(config, 0);
  return maintain({ config, dryRun, followers, now: () => now, logger: createLogger({ level: 'silent' }) });
}

/** Every file below a folder with its bytes. */
export function filesBelow(folder: string): Record<string, string> {
  const all = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = all.map((entry) => join(entry.parentPath, entry.name)).sort();
  return Object.fromEntries(paths.map((path) => [relative(folder, path), readFileSync(path).toString('base64')]));
}

const count = z.object({ rows: z.coerce.number(), hash: z.string().nullable() });

/** What is asked of the data that stay: the same before and after, however thin the rest is. */
export async function answersOf(warehouse: string, keptCommits: readonly string[]): Promise<Record<string, unknown>> {
  const kept = keptCommits.map((id) => `'${id}'`).join(', ');
  const questions = {
    pages: 'select * from page_state',
    changes: 'select * from page_changes',
    snapshots: 'select * from snapshots',
    quarantine: 'select * from quarantine',
    drift: 'select * from drift_observations',
    runs: 'select * from runs',
    summaries: 'select * from coverage_summary',
    coverage: `select * from coverage where snapshot_id in (${kept})`,
    url_reports: `select * from url_reports where snapshot_id in (${kept})`,
    newest_reports: `select url_reports.* from url_reports join page_state
      on page_state.url = url_reports.url and report_snapshot_id = url_reports.snapshot_id`,
  };
  return withReader({ warehouse, memoryLimit: 256e6 }, async (reader) => {
    const answers: Record<string, unknown> = {};
    for (const [name, query] of Object.entries(questions)) {
      const hashed = `select count(*) as rows, bit_xor(hash(asked))::varchar as hash from (${query}) as asked`;
      answers[name] = await reader.rows(count, hashed);
    }
    return answers;
  });
}
