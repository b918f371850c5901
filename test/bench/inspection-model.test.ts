import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { inspectedWorld, STEADY } from '../../bench/inspected-worlds.js';
import { FIRST_NIGHT, type Known } from '../../bench/inspection-model.js';
import { withEngine } from '../../src/base/storage/engine.js';
import { DAY_MS } from '../../src/base/time.js';
import { planInspections, setPlanOrder } from '../../src/sync/plan-reports.js';
import { createTables, viewStatements } from '../../src/warehouse/log/folder/tables.js';
import { temporaryFolder } from '../given/folder.js';

const PAGES = 1200;
const PER_NIGHT = 50;
/** And the first night that checks a page which an inspection found to be out. */
const NIGHTS = [3, 34];
const NIGHT_0_MS = Date.parse('2000-01-01T20:00:00Z') + FIRST_NIGHT * DAY_MS;
const REPORTS = {
  max_failed_ratio: 0.01,
  priority: { first: [], never: [] },
  refresh_after: 30 * DAY_MS,
  max_per_run: 1e6,
  deadline: DAY_MS,
};
const md5 = (text: string) => createHash('md5').update(text).digest('hex');
/** In the order of their hash, as the model has them. */
const URLS = Array.from({ length: PAGES + 200 }, (_, at) => `https://w.example/${at}`).sort((one, other) =>
  md5(one) < md5(other) ? -1 : 1,
);
const at = (night: number) => new Date(NIGHT_0_MS + night * DAY_MS).toISOString();
const dateOf = (night: number) => at(night).slice(0, 10);

test('the planner of the bench plans the same inspections as the SQL does', async () => {
  const nights: { night: number; given: Given; plan: string[] }[] = [];
  const scenario = {
    ...STEADY,
    pages: PAGES,
    perNight: PER_NIGHT,
    nights: 45,
    newPages: 2,
    accident: { from: 25, until: 80 },
  };
  const placeOf = (part: number) => {
    const bound = Math.floor(part * 2 ** 32)
      .toString(16)
      .padStart(8, '0');
    return URLS.filter((url) => md5(url) < bound).length;
  };
  inspectedWorld(5, { ...scenario, placeOf }, (night, known, plan) => {
    const isFirstEnded =
      plan.some(([, why]) => why === 'ended') &&
      !nights.some(({ plan }) => plan.some((line) => line.endsWith(' ended')));
    if (!NIGHTS.includes(night) && !isFirstEnded) return;
    nights.push({
      night,
      given: givenOf(known, night),
      plan: plan.map(([page, why]) => `${URLS[page]} ${why}`).sort(),
    });
  });
  const reasons = new Set<string>();
  for (const { night, given, plan } of nights) {
    const planned = await planOf(night, given);
    expect(planned.sort()).toEqual(plan);
    for (const line of plan) reasons.add(line.split(' ')[1] ?? '');
  }
  expect([...reasons].sort()).toEqual([
    'changed',
    'contradicted',
    'ended',
    'modified',
    'new',
    'oldest',
    'shown',
    'silent',
    'turn',
  ]);
});

type Given = ReturnType<typeof givenOf>;

/** What a warehouse knows on a night, as rows. */
function givenOf(known: Known, night: number) {
  const pages = URLS.slice(0, known.pages).map((url, page) => {
    const inspected = known.inspectedOn[page] ?? 0;
    const first = known.firstSeen[page] ?? 0;
    const modified = known.modifiedOn[page] ?? 0;
    return {
      url,
      is_new: night > 0 && first === night,
      first_seen_at: first < night ? at(first) : null,
      fetched_at: inspected < 0 ? null : at(inspected),
      indexed: ['Not Indexed', 'Indexed'][known.state[page] ?? -1] ?? null,
      wanted: known.isWanted[page] ? 'changed' : null,
      lastmod: modified < 0 ? null : at(modified - 0.1),
    };
  });
  const days = Array.from({ length: 95 }, (_, ago) => night - 95 + ago);
  const shown = days.flatMap((day) =>
    URLS.slice(0, known.pages).flatMap((url, page) => {
      const is = known.shown(page, day);
      return is === 2 || (is && day <= night - 3) ? [{ url, date: dateOf(day), is_final: day <= night - 3 }] : [];
    }),
  );
  return { pages, shown, days: days.map((day) => ({ date: dateOf(day), is_final: day <= night - 3 })) };
}

async function planOf(night: number, given: Given): Promise<string[]> {
  const folder = temporaryFolder();
  return withEngine({ memoryLimit: 512e6, temporary: folder }, async (engine) => {
    await createTables(engine);
    for (const table of ['search_final', 'search_fresh', 'search_fetches'])
      await engine.run(`create or replace table ${table} as select * from ${table}`);
    for (const statement of viewStatements('UTC')) await engine.run(statement);
    const from = (name: 'pages' | 'shown' | 'days', columns: string) => {
      const file = join(folder, `${name}.json`);
      writeFileSync(file, given[name].map((row) => JSON.stringify(row)).join('\n'));
      return `from read_json('${file}', format = 'newline_delimited', columns = {${columns}})`;
    };
    const pages = from(
      'pages',
      "url: 'VARCHAR', is_new: 'BOOLEAN', first_seen_at: 'TIMESTAMPTZ', fetched_at: 'TIMESTAMPTZ', indexed: 'VARCHAR', wanted: 'VARCHAR', lastmod: 'VARCHAR'",
    );
    await engine.run(`create temp table compared as select url, true as present, url as spelling, url as was_spelling,
      false as unnamed, null::timestamptz as was_unnamed_since, wanted as was_report_wanted, is_new,
      fetched_at as was_report_fetched_at, first_seen_at as was_first_seen_at, indexed as was_index_summary,
      0 as was_consecutive_failures ${pages}`);
    await engine.run(
      `create temp view previous_state as select url, first_seen_at ${pages} where first_seen_at is not null`,
    );
    await engine.run(
      `create temp view listed_entries as select url, 'entry' as kind, json_object('lastmod', lastmod) as extra ${pages}`,
    );
    const shown = from('shown', "url: 'VARCHAR', date: 'DATE', is_final: 'BOOLEAN'");
    for (const [table, which] of [
      ['search_final', 'is_final'],
      ['search_fresh', 'not is_final'],
    ])
      await engine.run(`insert into ${table} by name select 'w' as website_id, 's' as snapshot_id, "date", 'web' as "type", url,
        0 as clicks, 1 as impressions, 1 as "position" ${shown} where ${which}`);
    await engine.run(`insert into search_fetches by name select 'w' as website_id, 's' as snapshot_id, "date", 'web' as "type",
      is_final, false as is_cut, 9 as pages, 0 as clicks, 9 as impressions ${from('days', "date: 'DATE', is_final: 'BOOLEAN'")}`);
    await setPlanOrder(engine, REPORTS, NIGHT_0_MS + night * DAY_MS);
    const quotas = [{ scope: '.w.example', left: PER_NIGHT, per_day: PER_NIGHT }];
    await engine.set({ scopes: ['.w.example'], quotas: JSON.stringify(quotas) });
    const row = z.object({ url: z.string(), reason: z.string() });
    const rows = await engine.rows(row, `select url, reason from (${await planInspections(engine, 1)})`);
    return rows.map(({ url, reason }) => `${url} ${reason}`);
  });
}
