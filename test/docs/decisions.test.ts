import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const FOLDER = 'docs/decisions';

test('every decision is listed, under its own title', () => {
  const list = readFileSync(`${FOLDER}/README.md`, 'utf8');
  const listed = [...list.matchAll(/^\| \[(.+?)\]\((.+?)\)/gm)].map(([, , file]) => file);
  const files = readdirSync(FOLDER).filter((file) => file !== 'README.md');
  expect(listed).toEqual(files.sort());
  for (const file of files) expect(readFileSync(`${FOLDER}/${file}`, 'utf8')).toMatch(/^# .+\n\n\*\*Decided\.\*\*/);
});
