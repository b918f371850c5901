import { expect, test } from 'vitest';
import { failure, load } from './given.js';

const AT = 'api:\n  base_url: https://a.example\n  token: abc\nviews:\n  - name: Out\n    pages: ';

test.each([
  ['"directory=/products/&indexed=no&q=a%26b"', { directory: '/products/', indexed: 'no', q: 'a&b' }],
  ['https://i.example/dashboard/websites/1/pages?per=50&state=Soft+404&sort=-url', { state: 'Soft 404' }],
  ['{ indexed: "-", from: 2026-11-01, crawl: 2-7 days }', { indexed: '-', from: '2026-11-01', crawl: '2-7 days' }],
])('the view %s is read', async (pages, read) => {
  expect((await load(AT + pages)).views).toEqual([{ name: 'Out', pages: read }]);
});

test.each([
  ['"indexd=no"', 'has an unknown filter indexd. The filters are: q, state, indexed, directory,'],
  ['{ indexed: maybe }', 'has no valid value for indexed. Write one of: yes, no, gone, -.'],
  ['"from=yesterday"', 'has no valid value for from. Write a date, or a shorter text.'],
  ['[a]', 'is neither the address of a list nor its filters'],
])('the view %s is refused in one sentence, with its line', async (pages, words) => {
  const error = await failure(AT + pages);
  expect(error.problems).toMatchObject([{ path: 'views[0].pages', line: 6 }]);
  expect(error.message).toContain(words);
});

test('a view is watched only if a page that fell out still matches it', async () => {
  const error = await failure(`${AT}indexed=no\nnotify:\n  watch: [Out]\n`);
  expect(error.message).toContain('notify.watch[0] names a view that filters by indexed.');
});
