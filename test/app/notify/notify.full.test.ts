import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { notifiedRun } from '../../../src/app/notify/notify.js';
import { givenNights } from '../../given/nights.js';
import { FALLEN, INDEXED, NOTHING, noticesIn, overIn, pages, watching } from './given.js';

test('a notice names a directory that lost too many where the website did not, unless that kind is excepted', async () => {
  const nights = await givenNights();
  const rules = { indexed_drop: '50%' };
  const off = await watching(nights, { ...rules, except: ['directory_drop', 'over'] });
  const on = await watching(nights, rules);
  const list = { ...pages('a', 10, INDEXED), ...pages('b', 9, INDEXED), ...pages('z', 40, INDEXED) };
  await nights.night({ list });
  await on.send();
  // Rejected records are no pages that left the index.
  await nights.night({ list: { ...list, ...pages('a', 10, { index_summary: 5 }) } });
  await on.send();
  expect(on.notices()).toMatchObject([{ kind: 'rejects', count: 10 }]);
  await nights.night({ list: { ...list, ...pages('a', 10, FALLEN), ...pages('b', 9, FALLEN) } });
  const journal = join(nights.warehouse, 'notices.json');
  const before = readFileSync(journal);
  expect(await off.send()).toEqual([]);
  writeFileSync(journal, before);
  await on.send();
  const got = on.receiver.take();
  expect(overIn(got)).toEqual(['rejects']);
  const drops = got.flatMap(({ body }) => JSON.parse(body).notices).filter(({ kind }) => kind !== 'over');
  expect(drops).toMatchObject([
    { kind: 'directory_drop', count: 10, directory: '/a/', what: expect.not.stringContaining('in all') },
  ]);
  await nights.night({ list });
  await on.send();
  await on.send();
  expect(overIn(on.receiver.take())).toEqual(['directory_drop']);
});

test('a run that waits long is reported then and once that is over; a copy, once while it lags', async () => {
  const nights = await givenNights();
  await nights.night({ list: pages('a', 3, INDEXED) });
  const { config, logger, receiver } = await watching(nights);
  const options = { config, logger, now: () => nights.clock.now };
  const lagging = { name: 'duckdb', behind: 1, reason: 'indexhouse.duckdb is held' };
  const outage = { website: null, of: 'the service', error: 'it answered 503', since: nights.clock.now };
  const kinds = () => receiver.take().flatMap(({ body }) => [...noticesIn(body).keys()]);
  await notifiedRun(options, async (onLongOutage) => {
    await onLongOutage({ ...outage, overAt: null });
    expect(kinds()).toEqual(['outage']);
    await onLongOutage({ ...outage, overAt: nights.clock.now + 3_700_000 });
    expect(noticesIn(receiver.take()[0]?.body).get('over')?.['what']).toContain('over after 1h 2m');
    return NOTHING;
  });
  const sent: string[][] = [];
  for (const followers of [[lagging], [lagging], []]) {
    await notifiedRun(options, async () => ({ ...NOTHING, run_id: 'r2', followers }));
    sent.push(kinds());
  }
  expect(sent).toEqual([['lagging'], [], ['over']]);
});
