import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { processIo } from '../../src/app/cli/io.js';
import { buildProgram } from '../../src/app/cli/program.js';
import { configSchema } from '../../src/base/config/schema.js';
import { count, duration } from '../../src/base/observe/format.js';
import { packageFolder } from '../../src/base/storage/sql.js';
import { MINUTE_MS } from '../../src/base/time.js';
import { WINDOW_ENTRIES } from '../../src/source/walk/walk-state.js';
import { listingRequests } from '../../src/sync/dry-run.js';

const README = readFileSync(join(packageFolder(), 'README.md'), 'utf8');
const DOCS = join(packageFolder(), 'docs');

test('the README names the two commands that do everything, and every command that there is', () => {
  expect(README).toContain('npm ci && npm run demo');
  expect(README).toContain('npm ci && npm test');
  const named = new Set([...README.matchAll(/(?:node \.|`indexhouse) (\w+)/g)].map(([, name]) => name));
  const all = buildProgram('0.0.0', processIo(), { exitCode: 0 }).commands.map((command) => command.name());
  expect(all.filter((name) => !named.has(name))).toEqual([]);
});

test('docs/pacing.md lists what a first sync costs', () => {
  const { api, reports } = configSchema.parse({
    api: { base_url: 'https://api.example.com', token: 't' },
    websites: 'all',
  });
  const takes = (requests: number) => duration((requests / api.requests_per_minute) * MINUTE_MS);
  const rows = [1000, 10_000, 100_000, 1_000_000].map((pages) => {
    const listing = listingRequests(pages, WINDOW_ENTRIES);
    const requests = listing + pages;
    const nights = Math.ceil(pages / ((api.requests_per_minute * reports.deadline) / MINUTE_MS - listing));
    return `| ${count(pages)} | ${count(requests)} | ${takes(requests)} | ${nights} | ${takes(listing)} |`;
  });
  expect(readFileSync(join(DOCS, 'pacing.md'), 'utf8')).toContain(`|\n|--:|--:|--:|--:|--:|\n${rows.join('\n')}\n\n`);
});
