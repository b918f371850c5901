import { expect, it } from 'vitest';
import { z } from 'zod';
import { withEngine } from '../../../src/base/storage/engine.js';
import { sql } from '../../../src/base/storage/sql.js';
import { temporaryFolder } from '../../given/folder.js';

const AT = '2025-03-01 02:00:00Z';
/** Two websites of one night, and a night before them whose sample is none of the newest. */
const OBSERVED = [
  { at: '2025-02-28 02:00:00Z', sample: 'https://a.example/old' },
  { at: AT, sample: 'https://b.example/' },
  { at: AT, sample: null },
  { at: AT, sample: 'https://a.example/' },
];

it.each([
  ['as they came', OBSERVED],
  ['the other way round', OBSERVED.toReversed()],
])('of observations that are equally new, api_drift shows the same sample: %s', async (_, observed) => {
  const options = { memoryLimit: 64e6, temporary: temporaryFolder() };
  const shown = await withEngine(options, async (engine) => {
    await engine.run(sql('warehouse/tables/007_drift_observations'));
    for (const { at, sample } of observed) {
      await engine.run(
        `insert into drift_observations by name
         select $at::varchar as snapshot_id, 'w' as website_id, $at::timestamptz as snapshot_at,
           $at::date as snapshot_date, 'coverage' as source, 'absent_field' as kind, 'f' as field, 1 as occurrences,
           $sample::varchar as sample`,
        { at, sample },
      );
    }
    await engine.run(sql('warehouse/views/api_drift'));
    return engine.rows(z.object({ sample: z.string() }), 'select sample from api_drift');
  });
  expect(shown).toEqual([{ sample: 'https://a.example/' }]);
});
