import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { percent } from '../../../src/base/observe/format.js';
import { packageFolder } from '../../../src/base/storage/sql.js';
import { run } from '../../given/cli.js';
import { temporaryFolder } from '../../given/folder.js';
import { asked, call } from './given.js';

const GUIDE = readFileSync(join(packageFolder(), 'docs', 'assistants.md'), 'utf8');

const scratch = temporaryFolder();
const callSchema = z.object({ tool: z.string(), arguments: z.record(z.string(), z.unknown()) });
const [, ...SECTIONS] = (GUIDE.split('## Eight questions')[1] ?? '').split('\n### ');

let client: Client;
beforeAll(async () => {
  const folder = join(scratch, 'demo');
  const { code, stderr } = await run(['demo', '--folder', folder, '--json']);
  expect([code, stderr]).toEqual([0, expect.anything()]);
  client = await asked(join(folder, 'warehouse'));
});

const QUESTIONS = SECTIONS.map((section): [string, string] => [section.split('\n')[0] ?? '', section]);
it.each(QUESTIONS)('is answered by the calls alone: %s', async (_title, section) => {
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
});

/** Whether an answer has this value, or a text with it as a whole. */
function isIn(value: string, known: ReadonlySet<string>): boolean {
  return (
    known.has(value.replaceAll(',', '')) || [...known].some((text) => /[A-Za-z]/.test(text) && text.includes(value))
  );
}

/** Every value of an answer, as a reader would write it. */
function addValues(value: unknown, known: Set<string>): void {
  if (typeof value === 'number') {
    for (const text of [value, Math.abs(value), Math.round(value)]) known.add(String(text));
    known.add(percent(value));
  } else if (typeof value === 'string') known.add(value);
  else if (typeof value === 'object' && value !== null) for (const each of Object.values(value)) addValues(each, known);
}
