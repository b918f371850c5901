import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { JournalError } from '../../../src/warehouse/journal/header.js';
import { readLines } from '../../../src/warehouse/journal/lines.js';
import { readPlan } from '../../../src/warehouse/journal/plan.js';
import { temporaryFolder } from '../../given/folder.js';

const line = z.object({ text: z.string() });

function file(lines: (string | Buffer)[]): string {
  const path = join(temporaryFolder(), 'lines.ndjson');
  writeFileSync(path, '');
  for (const each of lines) appendFileSync(path, each);
  return path;
}

async function read(path: string): Promise<{ text: string; end: number }[]> {
  const found: { text: string; end: number }[] = [];
  for await (const { value, end } of readLines(path, line)) found.push({ text: value.text, end });
  return found;
}

it('each line comes with the byte behind it, whatever the pieces that the file is read in', async () => {
  const texts = Array.from(
    { length: 400 },
    (_, i) => ['a', 'ä', '🦊', '\u2028', '\r'][i % 5]?.repeat((i * 37) % 3000) ?? '',
  );
  const lines = [...texts, 'x'.repeat(600_000), 'last'].map((text) => `${JSON.stringify({ text })}\n`);
  const found = await read(file([...lines, '{"text":"torn']));
  let end = 0;
  expect(found).toEqual(
    lines.map((each) => {
      end += Buffer.byteLength(each);
      return { ...line.parse(JSON.parse(each)), end };
    }),
  );
});

it('a line that is no UTF-8 is damaged: left out at the end, an error elsewhere', async () => {
  const good = '{"text":"ä"}\n';
  const bad = Buffer.concat([Buffer.from('{"text":"'), Buffer.from([0xff]), Buffer.from('"}\n')]);
  expect(await read(file([good, bad]))).toEqual([{ text: 'ä', end: 14 }]);
  const error = await read(file([good, bad, good])).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(JournalError);
  expect(String(error)).toMatch(/line 2 of .* is damaged/);
});

it('many who ask for the pages of a plan at once get each page once, and then its end', async () => {
  const urls = Array.from(
    { length: 20_000 },
    (_, i) => `https://www.example.com/${i}${['', '\u2028', '\u2029', '\u0085'][i % 4]}`,
  );
  const pages = readPlan(file([urls.map((url) => `${JSON.stringify({ url, reason: 'new' })}\n`).join('')]));
  const got: string[] = [];
  const askers = Array.from({ length: 50 }, async () => {
    for (let page = await pages.next(); page.value; page = await pages.next()) got.push(page.value.url);
    return (await pages.next()).value;
  });
  expect(new Set(await Promise.all(askers))).toEqual(new Set([undefined]));
  expect(got.sort()).toEqual(urls.sort());
});

it('a plan that is left gives no more pages', async () => {
  const pages = readPlan(file(['{"url":"https://a","reason":"new"}\n', '{"url":"https://b","reason":"new"}\n']));
  expect((await pages.next()).value).toEqual({ url: 'https://a', reason: 'new' });
  await pages.return(undefined);
  expect((await pages.next()).value).toBeUndefined();
});
