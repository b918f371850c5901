import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { questionOf } from '../../../src/answers/query/ask-rows.js';
import { analyses, findAnalysis } from '../../../src/answers/query/catalog.js';
import { ask, type Question } from '../../../src/answers/query/question.js';
import type { Reader } from '../../../src/answers/query/reader.js';
import type { Value } from '../../../src/base/storage/values.js';
import { DamageError } from '../../../src/warehouse/log/folder/damage.js';
import { listTableFiles } from '../../../src/warehouse/log/folder/layout.js';
import { updateIndex } from '../../../src/warehouse/log/update-index.js';
import { seeds } from '../../given/at-length.js';
import { copyOf, temporaryFolder } from '../../given/folder.js';
import { seededRandom } from '../../given/random.js';
import { randomWarehouse } from '../../given/random-world.js';
import { openReader } from './given.js';

const NOW = Date.parse('2025-06-01T00:00:00Z');
const WEBSITES = ['shop', 'mirror/ %a'] as const;
const DATES = ['2025-02-01', ...[1, 2, 3, 5, 7, 9].map((day) => `2025-03-0${day}`), '2025-04-01'];
const URLS = Array.from({ length: 12 }, (_, page) =>
  ['', 'blog/', 'shop/'].map((folder) => `https://shop.example/${folder}${page}`),
).flat();

async function answerTo(reader: Reader, question: Question): Promise<Value[][]> {
  const { parts } = await ask(reader, question);
  const rows: Value[][] = [];
  for await (const part of parts) rows.push(...part);
  return rows;
}

/** Values for the parameters that say what may be left unread; others keep their defaults. */
function givenTo(parameters: readonly { name: string }[], random: () => number): Map<string, string> {
  const oneOf = (all: readonly string[]): string => all[Math.floor(random() * all.length)] ?? '';
  const [since = '', until = ''] = [oneOf(DATES), oneOf(DATES)].sort();
  const values = { website: oneOf(WEBSITES), since, until, from: since, to: until, url: oneOf(URLS) };
  return new Map(Object.entries(values).filter(([name]) => parameters.some((parameter) => parameter.name === name)));
}

async function readerOf(warehouse: string): Promise<Reader> {
  const reader = await openReader(warehouse);
  return reader;
}

test.each(seeds(0, 0.04))(
  'an analysis of one website and period answers as if all files were read (%i)',
  async (seed) => {
    const random = seededRandom(seed);
    const built = await randomWarehouse(seed + 300, 12, 20, WEBSITES);
    const whole = await readerOf(built.path);
    const indexed = copyOf(built.path);
    await updateIndex(indexed, { memoryLimit: 256e6, temporary: temporaryFolder() }, NOW, 1);
    const narrow = await readerOf(indexed);
    const answered = [];
    for (const analysis of analyses()) {
      const given = givenTo(analysis.parameters, random);
      const question = await questionOf(narrow, analysis, given).catch(() => null);
      if (question === null) continue;
      const asked = { analysis: analysis.name, ...Object.fromEntries(given) };
      const expected = await answerTo(whole, { ...question, website: null });
      expect({ ...asked, rows: await answerTo(narrow, question) }).toEqual({ ...asked, rows: expected });
      if (expected.length > 0) answered.push(analysis.name);
    }
    expect(answered.length).toBeGreaterThan(3);
    for (const table of ['coverage', 'coverage_summary', 'page_versions'] as const) {
      for (const file of await listTableFiles(indexed, table, { websiteId: 'shop' })) writeFileSync(file, 'damaged');
    }
    const other = await readerOf(indexed);
    const trend = await questionOf(other, findAnalysis('indexing_trend'), new Map([['website', 'mirror/ %a']]));
    expect(await answerTo(other, trend)).toEqual(await answerTo(whole, trend));
    await expect(answerTo(other, { ...trend, website: null })).rejects.toThrow(DamageError);
  },
);
