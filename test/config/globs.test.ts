import { describe, expect, it } from 'vitest';
import { failure, load, MINIMAL } from './given.js';

function withFirst(value: string): string {
  return `${MINIMAL}reports:\n  priority:\n    first: ${value}\n`;
}

describe('reports.priority', () => {
  it('takes lists of patterns, and either may be left out', async () => {
    const text = `${MINIMAL}reports:\n  priority:\n    never: ["*?print=*", "https://example.com/[a]"]\n`;
    expect((await load(text)).reports.priority).toEqual({
      first: [],
      never: ['*?print=*', 'https://example.com/[a]'],
    });
  });

  it.each([
    ['""', 'reports.priority.first[0] is not a pattern', 6, '[""]'],
    ['a number', 'reports.priority.first[0] is not a pattern', 6, '[5]'],
    ['a space before', 'reports.priority.first[0] starts or ends with a space', 6, '[" /a"]'],
    ['no list', 'reports.priority.first is not a list', 6, '"/blog/*"'],
    ['too many', 'reports.priority.first holds more than 1000 patterns', 6, `[${'"/a",'.repeat(1001)}]`],
    ['too long', 'reports.priority.first holds more than 50000 characters', 6, `["/${'a'.repeat(50_000)}"]`],
    ['a star without quotes', 'there is a * without quotes', 6, '[*]'],
    ['a pattern without quotes', 'in quotes if it begins with *', 6, '[*.html]'],
  ])('names the place of what is wrong: %s', async (_, words, line, value) => {
    const error = await failure(withFirst(value));
    expect(error.message).toContain(words);
    expect(error.problems[0]).toMatchObject({ line });
  });

  it('suggests its own keys, and is no text of the environment', async () => {
    const unknown = await failure(`${MINIMAL}reports:\n  priority:\n    frist: []\n`);
    expect(unknown.message).toContain('Did you mean `first`?');
    const variable = await failure(MINIMAL, { INDEXHOUSE_REPORTS_PRIORITY: '/blog/*' });
    expect(variable.problems).toMatchObject([{ path: 'reports.priority', message: 'is not a mapping' }]);
  });
});
