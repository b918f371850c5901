import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { givenNights } from '../../given/nights.js';
import { FALLEN, INDEXED, overIn, pages, watching } from './given.js';

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
