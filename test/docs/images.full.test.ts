import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { demoAt, IMAGES, withStory } from '../../bench/images.js';
import { packageFolder } from '../../src/base/storage/sql.js';
import { temporaryFolder } from '../given/folder.js';

const factsSchema = z.object({ made_at: z.iso.datetime(), story: z.array(z.string()) });

test('the pictures and the README show the story of the demo: else npm run images', async () => {
  const facts = factsSchema.parse(JSON.parse(readFileSync(join(IMAGES, 'demo.json'), 'utf8')));
  const { story } = await demoAt(Date.parse(facts.made_at), temporaryFolder());
  expect(story).toEqual(facts.story);
  const readme = readFileSync(join(packageFolder(), 'README.md'), 'utf8');
  expect(readme).toContain('```text\n- ');
  expect(withStory(readme, story)).toBe(readme);
});
