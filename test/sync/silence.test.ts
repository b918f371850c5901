import { expect, test } from 'vitest';
import { z } from 'zod';
import { withEngine } from '../../src/base/storage/engine.js';
import { sql } from '../../src/base/storage/sql.js';
import { addDays } from '../../src/base/time.js';
import { createTables, viewScript } from '../../src/warehouse/log/folder/tables.js';
import { temporaryFolder } from '../given/folder.js';

const CUT = 26;
const OUTAGE = 27;
const LAST_FINAL = 30;
const TO_24 = Array.from({ length: 24 }, (_, at) => at + 1);
/** The days on which search showed each page. */
const SHOWN = {
  daily: TO_24,
  'each third day': TO_24.filter((day) => day % 3 === 0),
  'beyond the cut': [...TO_24, CUT],
  'again on a fresh day': [...TO_24, LAST_FINAL + 1],
  'on one day': [12],
  other: [...TO_24, 25, CUT, 28, 29, 30],
};
const row = z.object({ url: z.string(), days: z.coerce.number(), silent_days: z.coerce.number(), chance: z.number() });
const dateOf = (day: number) => addDays('2026-01-01', day);

test('a silence is unlikely by the rhythm of the page, and cut days, outages and fresh days are no silence', async () => {
  const rows = await withEngine({ memoryLimit: 256e6, temporary: temporaryFolder() }, async (engine) => {
    await createTables(engine);
    for (const table of ['search_final', 'search_fresh', 'search_fetches'])
      await engine.run(`create or replace table ${table} as select * from ${table}`);
    await engine.run(viewScript('UTC'));
    for (let day = 1; day <= LAST_FINAL + 1; day++) {
      const pages = Object.entries(SHOWN).flatMap(([url, days]) => (days.includes(day) ? [url] : []));
      const isFinal = day <= LAST_FINAL;
      await engine.run(`insert into search_fetches by name select 'w' as website_id, 's' as snapshot_id,
        date '${dateOf(day)}' as "date", 'web' as "type", ${isFinal} as is_final, ${day === CUT} as is_cut,
        ${day === OUTAGE ? 0 : pages.length} as pages`);
      await engine.set({ pages });
      await engine.run(`insert into ${isFinal ? 'search_final' : 'search_fresh'} by name select 'w' as website_id,
        's' as snapshot_id, date '${dateOf(day)}' as "date", 'web' as "type", url, 1 as impressions, 0 as clicks
        from (select unnest(getvariable('pages')::varchar[]) as url)`);
    }
    await engine.run(sql('sync/plan/page_silence'));
    return engine.rows(
      row,
      `select url, days, silent_days, silence_chance(days_shown, days, silent_days) as chance
      from page_silence where is_silent_until_now order by url`,
    );
  });
  expect(rows).toMatchObject([
    // A day that is cut shows the page, and ends its silence before it.
    { url: 'beyond the cut', days: 24, silent_days: 3 },
    { url: 'daily', days: 23, silent_days: 4 },
    { url: 'each third day', days: 21, silent_days: 4 },
    { url: 'other', silent_days: 0, chance: 1 },
  ]);
  expect(rows[1]?.chance).toBeLessThan(0.001);
  expect(rows[2]?.chance).toBeGreaterThan(0.1);
});
