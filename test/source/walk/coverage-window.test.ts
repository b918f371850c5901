import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { World } from '../../../src/app/demo/simulator/world.js';
import { readWindow } from '../../../src/source/walk/coverage-window.js';
import { entryText } from '../../../src/warehouse/journal/listing.js';
import { atLength, once } from '../../given/at-length.js';

const WORLD = new World({ websites: [{ id: 'w', pages: 300 }] });
const ENTRIES = [...WORLD.pages('w')].map(({ coverage }) => JSON.stringify(coverage));
const PAGINATION = '"pagination":{"end":true,"count":3,"skip":0}';

/** The lines that a body becomes in the journal, what is strange about it, or that it cannot be read. */
function journaled(body: string) {
  try {
    const { entries, ...rest } = readWindow(body);
    return { ...rest, lines: entries.map((entry, position) => entryText(entry, { walk: 1, window: 1, position })) };
  } catch (error) {
    return (error as Error).name;
  }
}

/** What a parser makes of it: a body that begins with a space is not looked at in another way. */
const parsed = (body: string) => journaled(` ${body}`);

const replaced = fc.constantFrom(
  ...['null', 'true', '0', '-3', '1.5', '"x"', '"\\u0041"', '"\\ud800"', '"{\\"}"', '"{},[]"', '{}', '[1]', 'nul'],
  ...['"https://a"', '"https://a/\u2028ä"', '"2026-01-01T00:00:00Z"', '"2026-02-30T00:00:00Z"', '"a\u0001"', '""', ''],
);
const spoilt = fc
  .tuple(fc.constantFrom(...ENTRIES), fc.nat(20), replaced, fc.constantFrom('value', 'drop', 'double', 'name'))
  .map(([entry, at, value, how]) => {
    const members = Object.entries(JSON.parse(entry)).map(([name, text]) => `"${name}":${JSON.stringify(text)}`);
    const place = at % members.length;
    const name = members[place]?.split(':')[0] ?? '"url"';
    const changed = {
      value: [`${name}:${value}`],
      drop: [],
      double: [`${name}:${value}`, members[place] ?? ''],
      name: [`"x":${value}`],
    };
    members.splice(place, 1, ...changed[how]);
    return `{${members.join(',')}}`;
  });
const anyEntry = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...ENTRIES) },
  { weight: 2, arbitrary: spoilt },
  {
    weight: 1,
    arbitrary: fc.constantFrom('{}', 'null', '[]', '1', '"{}"', '{"url":"https://a"}', '{}{}', ' {}', '{} ', ''),
  },
);
const anyRest = fc.oneof(
  { weight: 5, arbitrary: fc.constant(`],${PAGINATION}}`) },
  fc.constantFrom(
    ...[`],${PAGINATION},"urls":[]}`, `],${PAGINATION},"\\u0075rls":[]}`, `],${PAGINATION},"more":1}`, ']}', '', '}'],
    ...[
      `,],${PAGINATION}}`,
      `] ,\n${PAGINATION}}`,
      `],${PAGINATION}} `,
      `],${PAGINATION}}x`,
      `,{"a":{}}],${PAGINATION}}`,
    ],
  ),
);

describe('a window of a listing', () => {
  it('says the same whether its entries are cut out as texts or parsed', () => {
    fc.assert(
      fc.property(fc.array(anyEntry, { maxLength: 4 }), anyRest, (entries, rest) => {
        const body = `{"urls":[${entries.join(',')}${rest}`;
        expect(journaled(body)).toEqual(parsed(body));
      }),
      { numRuns: atLength(300, 3000) },
    );
  });

  once('has nearly all of its entries taken as they arrived', () => {
    const { entries } = readWindow(`{"urls":[${ENTRIES.join(',')}],${PAGINATION}}`);
    const plain = entries.filter((entry) => !('verdict' in entry));
    expect(entries).toHaveLength(ENTRIES.length);
    expect(plain.length).toBeGreaterThan(0.9 * ENTRIES.length);
    expect(plain.map(({ url }) => url).every((url) => url?.startsWith('https://'))).toBe(true);
  });
});
