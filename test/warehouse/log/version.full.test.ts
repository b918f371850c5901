import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { readStatus } from '../../../src/answers/status/status.js';
import { run } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { givenNights } from '../../given/nights.js';
import { buildNights } from '../../given/thinned.js';

test('a warehouse of another version is refused with a sentence, and stays as it is', async () => {
  const { path: warehouse } = await buildNights([1, 2, 3]);
  const [stamp, identity] = [join(warehouse, 'schema', 'columns.json'), join(warehouse, 'warehouse.json')];
  const [own = '', other = ''] = [stamp, identity].map((file) => readFileSync(file, 'utf8'));
  const config = writeConfig(join(warehouse, '..'), { sections: { warehouse: { path: warehouse, time_zone: 'UTC' } } });
  const version = z.object({ written_by: z.string() }).parse(JSON.parse(other)).written_by;
  const refused = async (command: string) => {
    const { code, stderr } = await run([...command.split(' '), '--config', config]);
    const sentence = `was written by indexhouse ${version}, whose files are different`;
    expect([command, code, stderr]).toEqual([command, 2, expect.stringContaining(sentence)]);
  };
  writeFileSync(stamp, '{"snapshots":{"snapshot_id":"VARCHAR"}}');
  for (const command of ['sync', 'status', 'query index_balance']) await refused(command);
  writeFileSync(stamp, own);
  expect((await run(['query', 'index_balance', '--config', config])).code).toBe(0);
});

test('status shows what the newest snapshot had for the first time, and what of it is in quarantine', async () => {
  const nights = await givenNights();
  await nights.night({ list: { a: { index_summary: 'Indexed', colour: 1 }, b: {} } });
  await nights.night({ list: { a: { index_summary: 'Indexed', colour: 2, size: 3 }, b: { index_summary: 4 } } });
  const { new_drift, quarantine, websites } = await readStatus({
    warehouse: nights.warehouse,
    memoryLimit: 256e6,
    maxAge: Number.POSITIVE_INFINITY,
    websites: [],
    now: Date.now(),
  });
  const drift = new_drift.filter(({ kind }) => kind === 'unknown_field');
  expect(drift).toMatchObject([{ website_id: 'w', source: 'coverage', field: 'size', value: null, occurrences: 1 }]);
  expect(quarantine).toEqual([{ website_id: 'w', records: 1 }]);
  expect(websites[0]?.last_snapshot?.rejected_for).toMatch(/^index_summary: .*expected string.* \(4\) of .*\/b$/);
  expect(z.array(z.object({ sample: z.string() })).parse(drift)[0]?.sample).toContain('/a');
});
