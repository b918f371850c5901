import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { percent } from '../../src/observe/format.js';
import { packageFolder } from '../../src/storage/sql.js';
import { run } from '../given/cli.js';
import { temporaryFolder } from '../given/folder.js';
import { asked, call } from './given.js';

const GUIDE = readFileSync(join(packageFolder(), 'docs', 'assistants.md'), 'utf8');
const CHARACTERS_A_TOKEN = 4;
/** Dates and ids differ from day to day. */
const MOST_DEVIATION = 0.1;

const scratch = temporaryFolder(afterAll);
const callSchema = z.object({ tool: z.string(), arguments: z.record(z.string(), z.unknown()) });
const [, ...SECTIONS] = (GUIDE.split('## Ten questions')[1] ?? '').split('\n### ');

let client: Client;
beforeAll(async () => {
  const folder = join(scratch, 'demo');
  const { code, stderr } = await run(['demo', '--folder', folder, '--json']);
  expect([code, stderr]).toEqual([0, expect.anything()]);
  const ends: (() => Promise<void>)[] = [];
  client = await asked(join(folder, 'warehouse'), (end) => ends.push(end));
  return async () => {
    for (const end of ends) await end();
  };
});

it('there are ten questions', () => expect(SECTIONS).toHaveLength(10));

it.each(SECTIONS.map((section): [string, string] => [section.split('\n')[0] ?? '', section]))(
  'is answered by the calls alone: %s',
  async (_title, section) => {
    const [, calls = '', answer = ''] = /```json\n([\s\S]*?)```([\s\S]*)/.exec(section) ?? [];
    const known = new Set<string>();
    for (const line of calls.trim().split('\n')) {
      const { tool, arguments: given } = callSchema.parse(JSON.parse(line));
      const { content, error } = await call(client, tool, given);
      expect([tool, error]).toEqual([tool, null]);
      addValues(content, known);
    }
    const documented = [...answer.matchAll(/\*\*([^*]+)\*\*/g)].map(([, value = '']) => value.replaceAll(/\s+/g, ' '));
    expect(documented.length).toBeGreaterThan(1);
    expect(documented.filter((value) => !isIn(value, known))).toEqual([]);
  },
);

/** Whether an answer has this value, or a text with it as a whole. */
function isIn(value: string, known: ReadonlySet<string>): boolean {
  if (known.has(value.replaceAll(',', ''))) return true;
  const whole = new RegExp(`(?<![\\d.,])${value.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![\\d%])`);
  return [...known].some((text) => /[A-Za-z]/.test(text) && whole.test(text));
}

/** Every value of an answer, as a reader would write it. */
function addValues(value: unknown, known: Set<string>): void {
  if (typeof value === 'number') {
    for (const text of [value, Math.abs(value), Math.round(value)]) known.add(String(text));
    known.add(percent(value));
  } else if (typeof value === 'string') known.add(value);
  else if (typeof value === 'object' && value !== null) for (const each of Object.values(value)) addValues(each, known);
}

it('the costs are as documented', async () => {
  const [, table = ''] = /<!-- tokens -->([\s\S]*?)<!-- end -->/.exec(GUIDE) ?? [];
  const documented = [...table.matchAll(/^\| (.+) \| ([\d,]+) \|$/gm)].map(([, , tokens = '']) =>
    Number(tokens.replace(',', '')),
  );
  const { tools } = await client.listTools();
  const answers = [
    tools.map(({ name, title, description, inputSchema }) => ({ name, title, description, inputSchema })),
    await contentOf('list_analyses'),
    await contentOf('run_analysis', { name: 'deindexed_pages' }),
    await contentOf('run_analysis', { name: 'compare' }),
    await contentOf('run_analysis', { name: 'events' }),
    await contentOf('page', { url: 'https://www.example.com/blog/quick-guide-2295' }),
    await contentOf('query_sql', {
      sql: 'select index_coverage_state, count(*) as pages from pages where is_monitored group by all order by pages desc',
    }),
    await contentOf('status'),
    await contentOf('report'),
    await fileOf('indexhouse://schema'),
    await fileOf('indexhouse://data-dictionary'),
  ].map((answer) => (typeof answer === 'string' ? answer : JSON.stringify(answer)).length / CHARACTERS_A_TOKEN);
  const off = answers.map((tokens, at) => Math.abs((documented[at] ?? 0) - tokens) / tokens);
  expect([answers.map(Math.round), off.filter((share) => share > MOST_DEVIATION)]).toEqual([expect.anything(), []]);
  expect(documented).toHaveLength(answers.length);
});

async function contentOf(name: string, given: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
  return (await call(client, name, given)).content;
}

async function fileOf(uri: string): Promise<string> {
  const [first] = (await client.readResource({ uri })).contents;
  return first && 'text' in first ? first.text : '';
}
