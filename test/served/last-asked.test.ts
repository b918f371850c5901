import { expect, it } from 'vitest';
import { LastAsked } from '../../src/served/last-asked.js';

/** Work that ends when it is told to. */
function held<T>(): { work: (value: T) => Promise<T>; end: () => void } {
  let end = () => {};
  const until = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { work: (value) => until.then(() => value), end: () => end() };
}

it('is let go of behind its last user, and not while somebody uses it', async () => {
  const gone: string[] = [];
  const kept = new LastAsked<string>(1, async (value) => void gone.push(value));
  const [first, second] = [held<string>(), held<string>()];
  const firstUse = kept.use('a', async () => 'A', first.work);
  const secondUse = kept.use('a', async () => 'never made', second.work);
  expect(
    await kept.use(
      'b',
      async () => 'B',
      (value) => value,
    ),
  ).toBe('B');
  first.end();
  expect(await firstUse).toBe('A');
  expect(gone).toEqual([]);
  second.end();
  expect(await secondUse).toBe('A');
  expect(gone).toEqual(['A']);
});

it('is made once for all who ask at once, and anew after it went', async () => {
  let made = 0;
  const kept = new LastAsked<number>(2);
  const ask = (key: string) =>
    kept.use(
      key,
      async () => ++made,
      (value) => value,
    );
  expect(await Promise.all([ask('a'), ask('a'), ask('b')])).toEqual([1, 1, 2]);
  expect([await ask('a'), await ask('c'), await ask('a'), await ask('b')]).toEqual([1, 3, 1, 4]);
});

it('what could not be made is asked for again', async () => {
  const kept = new LastAsked<string>(2);
  const broken = kept.use(
    'a',
    () => Promise.reject(new Error('no')),
    (value) => value,
  );
  await expect(broken).rejects.toThrow('no');
  expect(
    await kept.use(
      'a',
      async () => 'A',
      (value) => value,
    ),
  ).toBe('A');
});

it('all of it goes at the end, what is in use behind its user', async () => {
  const gone: string[] = [];
  const kept = new LastAsked<string>(5, async (value) => void gone.push(value));
  const use = held<string>();
  const used = kept.use('a', async () => 'A', use.work);
  await kept.use(
    'b',
    async () => 'B',
    (value) => value,
  );
  await kept.close();
  expect(gone).toEqual(['B']);
  use.end();
  await used;
  expect(gone).toEqual(['B', 'A']);
});
