import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { firstRuns } from '../../src/answers/plan/cost.js';
import { processIo } from '../../src/app/cli/io.js';
import { buildProgram } from '../../src/app/cli/program.js';
import { configSchema } from '../../src/base/config/schema.js';
import { count, duration } from '../../src/base/observe/format.js';
import { packageFolder } from '../../src/base/storage/sql.js';
import { MINUTE_MS } from '../../src/base/time.js';

const README = readFileSync(join(packageFolder(), 'README.md'), 'utf8');
const IMAGES = join(packageFolder(), 'docs', 'images');
const MOST_BYTES = 300_000;
const PNG = Buffer.from('89504e470d0a1a0a', 'hex');

test('the README names the two commands that do everything, and every command that there is', () => {
  expect(README).toContain('npm ci && npm run demo');
  expect(README).toContain('npm ci && npm test');
  const named = new Set([...README.matchAll(/(?:node \.|`indexhouse) (\w+)/g)].map(([, name]) => name));
  const all = buildProgram('0.0.0', processIo(), { exitCode: 0 }).commands.map((command) => command.name());
  expect(all.filter((name) => !named.has(name))).toEqual([]);
});

test('the README says what a first sync costs', () => {
  const { api, reports } = configSchema.parse({
    api: { base_url: 'https://api.example.com', token: 't' },
    websites: 'all',
  });
  const takes = (requests: number) => duration((requests / api.requests_per_minute) * MINUTE_MS);
  const rows = [1000, 10_000, 100_000, 1_000_000].map((pages) => {
    const { listing, requests, nights } = firstRuns(pages, { ...api, ...reports });
    return `| ${count(pages)} | ${count(requests)} | ${takes(requests)} | ${nights} | ${takes(listing)} |`;
  });
  expect(README).toContain(`|\n|--:|--:|--:|--:|--:|\n${rows.join('\n')}\n\n`);
});

test('the pictures of the README are there, small, and show the story that the demo prints there', () => {
  const { story } = z
    .object({ story: z.array(z.string()).min(1) })
    .parse(JSON.parse(readFileSync(join(IMAGES, 'demo.json'), 'utf8')));
  const [printed = ''] = /What happened in the last seven days\n[\s\S]*?```/.exec(README) ?? [];
  const sentences = printed.replaceAll(/\n +/g, ' ');
  for (const sentence of story) expect(sentences).toContain(`- ${sentence}`);
  const shown = [...README.matchAll(/!\[[^\]]+\]\(docs\/images\/([\w.]+)\)/g)].map(([, file]) => file ?? '');
  expect(shown).toEqual(['report.png', 'dashboard.png']);
  for (const file of shown) {
    expect([file, statSync(join(IMAGES, file)).size]).toEqual([file, expect.toSatisfy((size) => size < MOST_BYTES)]);
    expect(readFileSync(join(IMAGES, file)).subarray(0, PNG.length)).toEqual(PNG);
  }
});
