import { expect, test } from 'vitest';
import { inDuckdb, truth } from '../../../given/tamper.js';
import { givenTwoNights, loseNights, tampersOf, verdictOn } from './given.js';

const given = givenTwoNights();

test('finds nothing in a warehouse as it should be', async () => {
  const verified = await given.home.verify();
  expect(verified).toMatchObject({ snapshots: 2, findings: [], repaired: [] });
  expect(verified.files).toBeGreaterThanOrEqual(5);
  expect(verified.rows).toBeGreaterThan(60);
});

const tamper = (name: string) => tampersOf(given).find(([one]) => one === name)?.[1]() ?? expect.fail(name);

test('finds a flipped byte', async () => {
  const text = expect.stringContaining(await tamper('a flipped byte'));
  expect(await verdictOn(given.home)).toMatchObject({ code: 1, levels: ['difference'], text });
});

test('--repair writes a marker and a run that are lost again from indexhouse.duckdb', async () => {
  const { home } = given;
  const whole = await truth(home.warehouse);
  await loseNights(home, 1, ['snapshots', 'runs']);
  const text = expect.stringContaining('is missing, but indexhouse.duckdb has its row');
  expect(await verdictOn(home)).toMatchObject({ code: 1, levels: ['difference'], text });
  const { repaired, findings } = await home.verify(true);
  expect(repaired).toEqual([expect.stringContaining('/runs/'), expect.stringContaining('/snapshots/')]);
  expect([findings, Object.keys(await truth(home.warehouse))]).toEqual([[], Object.keys(whole)]);
});

test('finds rows and a state that differ from the log, each by its name', async () => {
  const tampers = {
    coverage: 'delete from coverage where rowid = 3',
    url_reports: "update url_reports set index_summary = 'changed' where rowid = 3",
    page_versions: 'insert into page_versions select * from page_versions limit 1',
    page_state: 'update page_state set absences = absences + 1 where rowid = 3',
    runs: "update runs set outcome = 'failed' where rowid = 0",
    snapshots: 'update snapshots set pages_listed = 0 where rowid = 0',
  };
  await inDuckdb(given.home.warehouse, ...Object.values(tampers));
  const wrong = [
    await tamper('a state that is altered'),
    await tamper('a page that left the index, not recorded'),
    ...Object.keys(tampers).map((table) => `${table} in indexhouse.duckdb`),
    'indexhouse verify --repair',
  ];
  const { code, levels, text } = await verdictOn(given.home);
  expect([code, levels, wrong.filter((one) => !text.includes(one))]).toEqual([1, ['difference'], []]);
});
