import { expect, it } from 'vitest';
import { run } from '../../given/cli.js';
import { buildWarehouse, sharedWarehouse } from '../../given/warehouse.js';

const HOSTILE = '\u202e\u009b2J';
const SQL = `select '${HOSTILE}' || chr(27) || ']0;x' || chr(7) || chr(13) || chr(10) || 'y' as "${HOSTILE}"`;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
const INTERPRETED = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

const page = { url: `https://shop.example/${HOSTILE}`, entry: { index_coverage_state: `${HOSTILE}\u001b[31m` } };
const built = sharedWarehouse(() =>
  buildWarehouse(
    ['01', '02'].map((day) => ({
      at: `2025-03-${day}T02:00:00Z`,
      lists: { [`${HOSTILE}shop`]: [{ ...page, entry: { ...page.entry, index_summary: day } }] },
    })),
  ),
);

it.each([
  ['query', '--sql', SQL],
  ...['json', 'csv', 'md'].map((format) => ['query', '--sql', SQL, '--format', format]),
  ['query', '--sql', SQL, '--format', 'csv', '--raw-csv'],
  ['query', 'pages', '--format', 'csv'],
  ['status'],
  ['status', '--json'],
  ['status', '--metrics'],
  ['report', '--out', '-'],
])('a terminal shows what it would interpret, and a pipe gets the same values: %j', async (...args) => {
  const all = [...args, '--warehouse', built.path];
  const shown = await run(all, { columns: 200 });
  expect(shown.stdout + shown.stderr).not.toMatch(INTERPRETED);
  expect(shown.stdout).not.toBe('');
  if (!args.includes('csv')) return;
  const piped = await run(all);
  expect([piped.code, piped.stdout.includes(HOSTILE)]).toEqual([shown.code, true]);
});
